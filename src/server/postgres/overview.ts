import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import { parseExactAt } from "../../json/exact-json.js";
import type { ListedConversation, Overview } from "../conversations/overview.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Database, Statement } from "./database.js";
import { conversationOf, isOwnId } from "./rows.js";

const COLUMNS = "request_id, key, status, created_at, started_at, completed_at, reason, now() AS at";

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
    SELECT key, operation, now() AS at, ARRAY(
      SELECT extract(epoch FROM time)::float8 * 1000 FROM unnest(times) AS time
      WHERE time > now() - interval '1 hour' ORDER BY time
    ) AS times
    FROM research.windows ORDER BY key, operation`,
};

/** What the database shows of all keys. Its clock is the database's. */
export class PostgresOverview implements Overview {
  constructor(private readonly parts: { database: Database; clock: Clock }) {}

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
    const counts = rows
      .map(({ key: keyId, operation, times }) => ({ keyId, operation, times }))
      .filter(({ times }) => times.length > 0);
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
