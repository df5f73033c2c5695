import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import { parseExactAt } from "../../json/exact-json.js";
import type { KnownStatus } from "../../protocol/conversation.js";
import {
  COST_DAYS,
  type Conversation,
  type ListedConversation,
  type Overview,
} from "../conversations/conversation-store.js";
import type { ResearchJob } from "../researchers/researcher.js";
import { type Database, sql } from "./database.js";

/** request_ids */
const GET = sql("get")`
  SELECT request_id, key, status, created_at, completed_at, reason, progress FROM research.conversations
  WHERE request_id = ANY ($1::uuid[])`;

/** An id of this store is a UUID; PostgreSQL refuses any other text. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text may be an id of this store. */
export function isOwnId(requestId: string): boolean {
  return UUID.test(requestId);
}

/** A row of research.conversations without its texts. */
export function conversationOf(requestId: string, row: QueryResultRow): Conversation {
  return {
    requestId: requestId.toLowerCase(),
    createdAt: row.created_at.getTime(),
    status: row.status,
    endedAt: row.completed_at?.getTime(),
    reason: JSON.parse(row.reason) ?? undefined,
    progress: row.progress ?? undefined,
  };
}

/** What is asked for in one turn of the event loop. */
interface Batch {
  ids: Set<string>;
  rows: Promise<Map<string, QueryResultRow>>;
}

/**
 * Reads states, which are asked for more often than all else: what arrives in one turn of the event loop is one
 * statement.
 */
export class StateReader {
  #next: Batch | undefined;
  constructor(private readonly database: Database) {}

  /** The row of that id (a UUID in lower case), whichever key it belongs to. Rejects as `Database.read` does. */
  async get(requestId: string): Promise<QueryResultRow | undefined> {
    this.#next ??= this.#begin();
    const { ids, rows } = this.#next;
    ids.add(requestId);
    return (await rows).get(requestId);
  }

  #begin(): Batch {
    const ids = new Set<string>();
    const read = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const rows = await this.database.read(GET, [[...ids]]);
      return new Map(rows.map((row) => [String(row.request_id), row]));
    };
    return { ids, rows: read() };
  }
}

const COLUMNS = "request_id, key, status, created_at, started_at, completed_at, reason, now() AS at";

const STATES = sql(
  "states",
)`SELECT status, count(*)::int AS count FROM research.conversations GROUP BY status`;

/** limit */
const NEWEST = sql("newest")`SELECT ${COLUMNS} FROM research.conversations ORDER BY created_at DESC LIMIT $1`;

/** request_id */
const FIND = sql("find")`SELECT ${COLUMNS} FROM research.conversations WHERE request_id = $1`;

/** request_id */
const JOB = sql(
  "job",
)`SELECT coalesce(job, ended_job) AS job FROM research.conversations WHERE request_id = $1`;

const HOURS = sql("hours")`
  SELECT key, operation, now() AS at, array_agg(extract(epoch FROM at)::float8 * 1000 ORDER BY at) AS times
  FROM research.slots WHERE at > now() - interval '1 hour' GROUP BY key, operation ORDER BY key, operation`;

const COSTS = sql("costs")`
  SELECT key, sum(cost_dollars) AS dollars, count(*)::int AS conversations FROM research.conversations
  WHERE cost_dollars IS NOT NULL AND completed_at > now() - interval '${COST_DAYS} days' GROUP BY key ORDER BY key`;

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

  async costs() {
    const rows = await this.parts.database.read(COSTS, []);
    return rows.map(({ key: keyId, dollars, conversations }) => ({ keyId, dollars, conversations }));
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
    startedAt: row.started_at?.getTime(),
  };
}
