import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import { parseExactAt } from "../../json/exact-json.js";
import type { KnownStatus } from "../../protocol/conversation.js";
import type { ListedConversation, Overview } from "../conversations/overview.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Database, Statement } from "./database.js";
import { conversationOf, isOwnId } from "./states.js";

const COLUMNS = "request_id, key, status, created_at, started_at, completed_at, reason, now() AS at";

const STATES: Statement = {
  name: "states",
  text: "SELECT status, count(*)::int AS count FROM research.conversations GROUP BY status",
};

/** limit */
const NEWEST: Statement = {
  name: "newest",
  text: `SELECT ${COLUMNS} FROM research.conversations ORDER BY created_at DESC LIMIT $1`,
};

/** request_id */
const FIND: Statement = {
  name: "find",
  text: `SELECT ${COLUMNS} FROM research.conversations WHERE request_id = $1`,
};

/** request_id */
const JOB: Statement = {
  name: "job",
  text: "SELECT coalesce(job, ended_job) AS job FROM research.conversations WHERE request_id = $1",
};

const HOURS: Statement = {
  name: "hours",
  text: `
    SELECT key, operation, now() AS at, array_agg(extract(epoch FROM at)::float8 * 1000 ORDER BY at) AS times
    FROM research.slots WHERE at > now() - interval '1 hour' GROUP BY key, operation ORDER BY key, operation`,
};

/** What the database shows of all keys. Its clock is the database's. */
export class PostgresOverview implements Overview {
  constructor(private readonly parts: { database: Database; clock: Clock }) {}

  async states() {
    const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
    for (const { status, count } of await this.parts.database.read(STATES, []))
      states[status as KnownStatus] = count;
    return states;
  }

  async newest(limit: number) {
    const rows = await this.parts.database.read(NEWEST, [limit]);
    return { at: this.#at(rows), conversations: rows.map(listed) };
  }

  async find(requestId: string) {
    if (!isOwnId(requestId)) return undefined;
    const [row] = await this.parts.database.read(FIND, [requestId]);
    return row && { at: row.at.getTime() as number, conversation: listed(row) };
  }

  async job(requestId: string): Promise<ResearchJob | undefined> {
    if (!isOwnId(requestId)) return undefined;
    const [row] = await this.parts.database.read(JOB, [requestId]);
    return row?.job ? (parseExactAt(row.job, "output_schema") as ResearchJob) : undefined;
  }

  async hours() {
    const rows = await this.parts.database.read(HOURS, []);
    const counts = rows.map(({ key: keyId, operation, times }) => ({ keyId, operation, times }));
    return { at: this.#at(rows), counts };
  }

  /** Without a row, this process's clock is as good as any. */
  #at([row]: readonly QueryResultRow[]): number {
    return row?.at.getTime() ?? this.parts.clock.now();
  }
}

function listed(row: QueryResultRow): ListedConversation {
  return {
    ...conversationOf(row.request_id, row),
    keyId: row.key,
    ...(row.started_at !== null && { startedAt: row.started_at.getTime() }),
  };
}
