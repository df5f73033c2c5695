import type { QueryResultRow } from "pg";
import type { Clock } from "../../ground/clock.js";
import { parseExact } from "../../ground/json/exact-json.js";
import type { KnownStatus } from "../../ground/protocol/conversation.js";
import type { ResearchJob } from "../../ground/researcher.js";
import type {
  Conversation,
  ListedConversation,
  Overview,
  Spent,
  SpentBy,
} from "../conversations/conversation-store.js";
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

/** What one statement asks for. */
interface StateBatch {
  ids: Set<string>;
  rows: Promise<Map<string, QueryResultRow>>;
}

/** The next statement gathers while one is under way, and for this long at most, ms: that one may hang. */
const GATHER_MS = 2;

/** Reads states, which are asked for more often than all else: what arrives while one statement is under way is the next. */
export class StateReader {
  #next: StateBatch | undefined;
  /** Resolves when the last statement has ended. */
  #last: Promise<unknown> = Promise.resolve();
  constructor(
    private readonly database: Pick<Database, "read">,
    private readonly clock: Pick<Clock, "sleep">,
  ) {}

  /** The row of that id (a UUID in lower case), whichever key it belongs to. Rejects as `Database.read` does. */
  async get(requestId: string): Promise<QueryResultRow | undefined> {
    this.#next ??= this.#begin();
    const { ids, rows } = this.#next;
    ids.add(requestId);
    return (await rows).get(requestId);
  }

  #begin(): StateBatch {
    const ids = new Set<string>();
    const read = async () => {
      await Promise.race([this.#last, this.clock.sleep(GATHER_MS)]);
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const rows = this.database.read(GET, [[...ids]]);
      this.#last = rows.catch(() => {});
      return new Map((await rows).map((row) => [String(row.request_id), row]));
    };
    return { ids, rows: read() };
  }
}

const COLUMNS = "request_id, key, status, created_at, started_at, completed_at, reason, now() AS at";

const STATES = sql(
  "states",
)`SELECT status, count(*)::int AS count FROM research.conversations GROUP BY status`;

/** limit, status or null */
const NEWEST = sql("newest")`
  SELECT ${COLUMNS} FROM research.conversations WHERE $2::text IS NULL OR status = $2 ORDER BY created_at DESC LIMIT $1`;

/** request_id */
const FIND = sql("find")`SELECT ${COLUMNS} FROM research.conversations WHERE request_id = $1`;

/** request_id */
const JOB = sql(
  "job",
)`SELECT coalesce(job, ended_job) AS job FROM research.conversations WHERE request_id = $1`;

const HOURS = sql("hours")`
  SELECT key, operation, now() AS at, array_agg(extract(epoch FROM at)::float8 * 1000 ORDER BY at) AS times
  FROM research.slots WHERE at > now() - interval '1 hour' GROUP BY key, operation ORDER BY key, operation`;

/** key, day or model; for how long back, ms, or NULL. */
const SPENT = sql("spent")`
  SELECT CASE $1 WHEN 'key' THEN key WHEN 'model' THEN coalesce(model, '')
      ELSE to_char(completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS name,
    (count(*) FILTER (WHERE status = 'COMPLETED'))::int AS completed,
    (count(*) FILTER (WHERE status = 'FAILED'))::int AS failed,
    (count(*) FILTER (WHERE status = 'STOPPED'))::int AS stopped,
    coalesce(sum(cost_dollars::numeric), 0)::float8 AS dollars, count(cost_dollars)::int AS priced,
    coalesce(sum(input_tokens), 0) AS "inputTokens", coalesce(sum(output_tokens), 0) AS "outputTokens",
    (count(*) FILTER (WHERE coalesce(cost_dollars, input_tokens, output_tokens) IS NULL))::int AS unsaid
  FROM research.bills
  WHERE completed_at > coalesce(now() - $2::float8 * interval '1 ms', '-infinity') GROUP BY 1 ORDER BY 1`;

/** What waits, in its order: keys take turns, so that as many of each other key come first as of the own one. */
const QUEUE = sql("queue")`
  WITH waiting AS MATERIALIZED (
    SELECT request_id, key, row_number() OVER (PARTITION BY key ORDER BY due_at) - 1 AS place
    FROM research.conversations WHERE job IS NOT NULL AND worker IS NULL AND status = 'PENDING' AND remote IS NULL
  ), keys AS (SELECT key, count(*) AS count FROM waiting GROUP BY key)
  SELECT request_id, sum(CASE WHEN keys.key = one.key THEN place ELSE least(place, count) END)::float8 AS done,
    sum(count)::float8 AS of
  FROM waiting AS one, keys GROUP BY request_id`;

/** How old the places in the queue may be, ms. */
const QUEUE_MS = 500;

/** The places of what waits, which are read at most so often, or for one that was not there. */
export class QueueReader {
  #places: Promise<Map<string, string>> = Promise.resolve(new Map());
  /** Monotonic ms. */
  #readAt = Number.NEGATIVE_INFINITY;
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Progress as JSON text; undefined if it does not wait. */
  async placeOf(requestId: string): Promise<string | undefined> {
    const isFresh = this.clock.monotonic() - this.#readAt < QUEUE_MS;
    const known = isFresh ? (await this.#places).get(requestId) : undefined;
    if (known !== undefined) return known;
    this.#readAt = this.clock.monotonic();
    this.#places = this.#read();
    return (await this.#places).get(requestId);
  }

  async #read(): Promise<Map<string, string>> {
    const rows = await this.database.read(QUEUE, []).catch(() => []);
    return new Map(
      rows.map(({ request_id, done, of }) => [request_id, JSON.stringify({ step: "queue", done, of })]),
    );
  }
}

/** What the database shows of all keys. Its clock is the database's. */
export class PostgresOverview implements Overview {
  constructor(private readonly parts: { database: Database; clock: Clock }) {}

  async states() {
    const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
    for (const { status, count } of await this.parts.database.read(STATES, []))
      states[status as KnownStatus] = count;
    return states;
  }

  async newest(limit: number, state?: KnownStatus) {
    const rows = await this.parts.database.read(NEWEST, [limit, state ?? null]);
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
    return row?.job ? (parseExact(row.job, "output_schema") as ResearchJob) : undefined;
  }

  async hours() {
    const rows = await this.parts.database.read(HOURS, []);
    const counts = rows.map(({ key: keyId, operation, times }) => ({ keyId, operation, times }));
    return { at: this.#at(rows), counts };
  }

  async spent(by: SpentBy, sinceMs?: number): Promise<Spent[]> {
    return (await this.parts.database.read(SPENT, [by, sinceMs ?? null])) as Spent[];
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
