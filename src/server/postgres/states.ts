import type { QueryResultRow } from "pg";
import type { Clock } from "../../core/clock.js";
import { parseExact } from "../../core/json/exact-json.js";
import type { KnownStatus } from "../../core/protocol/conversation.js";
import type { ResearchJob } from "../../core/researcher.js";
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

/** Asks in one statement for all ids that come while the one before is under way. */
class IdBatches {
  #next: { ids: Set<string>; rows: Promise<Map<string, QueryResultRow>> } | undefined;
  /** Resolves when the last statement has ended. */
  #last: Promise<unknown> = Promise.resolve();
  constructor(
    private readonly read: (ids: readonly string[]) => Promise<QueryResultRow[]>,
    /** Waits until the next statement may begin, given the end of the last one. */
    private readonly turn: (last: Promise<unknown>) => Promise<unknown>,
  ) {}

  /** The row of that id (a UUID in lower case). Rejects as `read` does. */
  async get(id: string): Promise<QueryResultRow | undefined> {
    this.#next ??= this.#begin();
    const { ids, rows } = this.#next;
    ids.add(id);
    return (await rows).get(id);
  }

  #begin() {
    const ids = new Set<string>();
    const read = async () => {
      await this.turn(this.#last);
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const rows = this.read([...ids]);
      this.#last = rows.catch(() => {});
      return new Map((await rows).map((row) => [String(row.request_id), row]));
    };
    return { ids, rows: read() };
  }
}

/** A statement that hangs holds up the next one for so long, ms. */
const GATHER_MS = 2;

/** Reads states, which are asked for more often than all else, whichever key they belong to. Rejects as `Database.read` does. */
export class StateReader {
  readonly #batches: IdBatches;
  constructor(database: Pick<Database, "read">, clock: Pick<Clock, "sleep">) {
    this.#batches = new IdBatches(
      (ids) => database.read(GET, [ids]),
      (last) => Promise.race([last, clock.sleep(GATHER_MS)]),
    );
  }

  get(requestId: string): Promise<QueryResultRow | undefined> {
    return this.#batches.get(requestId);
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

/**
 * request_ids: their places among what waits. Keys take turns, so that before one come all that have a lower place
 * among those of their own key. Reads all that wait.
 */
const QUEUE = sql("queue")`
  WITH waiting AS (
    SELECT request_id, row_number() OVER (PARTITION BY key ORDER BY due_at) AS place
    FROM research.conversations WHERE job IS NOT NULL AND worker IS NULL AND status = 'PENDING' AND remote IS NULL
  ), placed AS (
    SELECT request_id, rank() OVER (ORDER BY place) - 1 AS done, count(*) OVER () AS of FROM waiting
  )
  SELECT request_id, done::float8, of::float8 FROM placed WHERE request_id = ANY ($1::uuid[])`;

/** How long a state waits for its place in the queue, ms; without it, it is said all the same. */
const PLACE_LIMIT_MS = 500;
/** After a look at the queue comes a rest of so many times its duration: many may wait, and many ask. */
const REST = 4;

/** Reads places in the queue. */
export class QueueReader {
  readonly #batches: IdBatches;
  /** Monotonic ms. */
  #restUntil = 0;
  constructor(
    private readonly database: Pick<Database, "read">,
    private readonly clock: Pick<Clock, "monotonic" | "sleep">,
  ) {
    this.#batches = new IdBatches(
      (ids) => this.#read(ids),
      async (last) => {
        await last;
        await clock.sleep(this.#restUntil - clock.monotonic());
      },
    );
  }

  /** Progress as JSON text; undefined if it does not wait, or its place is not known in time. */
  async placeOf(requestId: string): Promise<string | undefined> {
    if (this.#restUntil - this.clock.monotonic() > PLACE_LIMIT_MS) return undefined;
    const known = new AbortController();
    const late = this.clock.sleep(PLACE_LIMIT_MS, known.signal);
    const place = await Promise.race([this.#batches.get(requestId), late]);
    known.abort();
    return place ? JSON.stringify({ step: "queue", done: place.done, of: place.of }) : undefined;
  }

  async #read(ids: readonly string[]): Promise<QueryResultRow[]> {
    const begun = this.clock.monotonic();
    const rows = await this.database.read(QUEUE, [ids]).catch(() => []);
    const ended = this.clock.monotonic();
    this.#restUntil = ended + REST * (ended - begun);
    return rows;
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
