import type { QueryResultRow } from "pg";
import type { Clock } from "../../core/clock.js";
import { parseExact } from "../../core/json/exact-json.js";
import { type KnownStatus, STATUSES } from "../../core/protocol/conversation.js";
import type { ResearchJob } from "../../core/researcher.js";
import { computeKeyUse, formatQueueProgress } from "../conversations/budget-rules.js";
import {
  type Conversation,
  type HourUse,
  type KeyFigures,
  type LimitedKey,
  type ListedConversation,
  MOST_COUNTED,
  type Overview,
  type SpentBy,
  type SpentSum,
} from "../conversations/conversation-store.js";
import type { KeyStore } from "../keys/key-store.js";
import { type Database, defineSql } from "./database.js";

/** Reads states. Parameter: request_ids. */
const GET = defineSql("get")`
  SELECT request_id, key, status, created_at, completed_at, reason, progress FROM research.conversations
  WHERE request_id = ANY ($1::uuid[])`;

/** The ids of this store are UUIDs; PostgreSQL rejects any other text for such a column. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns whether a text may be an id of this store. */
export function isConversationId(requestId: string): boolean {
  return UUID.test(requestId);
}

/** Converts a row of research.conversations without its long texts. */
export function convertConversation(requestId: string, row: QueryResultRow): Conversation {
  return {
    requestId: requestId.toLowerCase(),
    createdAt: row.created_at.getTime(),
    status: row.status,
    endedAt: row.completed_at?.getTime(),
    reason: JSON.parse(row.reason) ?? undefined,
    progress: row.progress ?? undefined,
  };
}

/** How long a statement that hangs delays the next one, in ms. */
const GATHER_MS = 2;

/**
 * Reads states, the most frequent request. All ids that arrive while a statement runs share the next one, whichever keys
 * they belong to.
 */
export class StateReader {
  #next: { ids: Set<string>; rows: Promise<Map<string, QueryResultRow>> } | undefined;
  /** Resolves when the last statement has ended. */
  #last: Promise<unknown> = Promise.resolve();
  constructor(
    private readonly database: Pick<Database, "read">,
    private readonly clock: Pick<Clock, "sleep">,
  ) {}

  /** Returns the row of an id (a UUID in lower case). Rejects as `Database.read` does. */
  async get(requestId: string): Promise<QueryResultRow | undefined> {
    this.#next ??= this.#begin();
    const { ids, rows } = this.#next;
    ids.add(requestId);
    return (await rows).get(requestId);
  }

  #begin() {
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

/** Selects the PENDING conversations without a worker, as their index does. */
export const WAITS = "research.conversations WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL";

/**
 * Counts unfinished conversations: of added keys, the created ones less the ended ones. A service without added keys
 * does not sum its create calls, so its running and waiting conversations are counted, the latter up to MOST_WAITING.
 */
const MOST_WAITING = 100_000;
export const UNFINISHED = `(CASE WHEN EXISTS (SELECT FROM research.keys)
  THEN (SELECT coalesce(sum(created - completed - failed - stopped), 0) FROM research.sums
    WHERE span = 'ever' AND key IN (SELECT id FROM research.keys))
  ELSE (SELECT count(*) FROM (SELECT FROM ${WAITS} LIMIT ${MOST_WAITING}) AS some_wait)
    + (SELECT count(*) FROM research.running) END)::float8`;

const COLUMNS = "request_id, key, status, created_at, started_at, completed_at, reason, now() AS at";

const STATES = defineSql("states")`
  SELECT greatest(0, ${UNFINISHED} - processing) AS "PENDING", processing AS "PROCESSING",
    coalesce(sum(completed), 0)::float8 AS "COMPLETED", coalesce(sum(failed), 0)::float8 AS "FAILED",
    coalesce(sum(stopped), 0)::float8 AS "STOPPED"
  FROM (SELECT count(*)::float8 AS processing FROM research.conversations WHERE status = 'PROCESSING') AS begun
    LEFT JOIN research.sums ON span = 'ever' AND NOT is_deleted
  GROUP BY processing`;

/** Lists the newest conversations. Parameters: limit (applied to each state, then to all), states. */
const NEWEST = defineSql("newest")`
  SELECT newest.* FROM unnest($2::text[]) AS wanted, LATERAL (
    SELECT ${COLUMNS} FROM research.conversations WHERE status = wanted ORDER BY created_at DESC LIMIT $1
  ) AS newest ORDER BY created_at DESC LIMIT $1`;

/** Finds a conversation. Parameter: request_id. */
const FIND = defineSql("find")`SELECT ${COLUMNS} FROM research.conversations WHERE request_id = $1`;

/** Returns a job. Parameter: request_id. */
const JOB = defineSql(
  "job",
)`SELECT coalesce(job, ended_job) AS job FROM research.conversations WHERE request_id = $1`;

/** Counts the requests in the hours of keys. Parameter: keys. */
const HOURS = defineSql("hours")`
  SELECT key, operation, (count(*) FILTER (WHERE at > now() - interval '1 hour'))::int AS used,
    max(at) FILTER (WHERE number = taken % size AND at > now() - interval '1 hour') + interval '1 hour' AS next_at
  FROM research.counters JOIN research.slots USING (key, operation) WHERE key = ANY ($1) GROUP BY key, operation`;

/**
 * Sums spending. Parameters: key, day or model; period in ms, or NULL. A period reads the hours of its first day, then
 * days; all time reads one row, or one for each day. Sums one key at a time, in the order of the index.
 */
const SPENT = defineSql("spent")`
  WITH since AS (SELECT date_bin('1 hour', now() - $2::float8 * interval '1 ms', '2000-01-01Z') AS hour), days AS (
    SELECT hour, coalesce(date_bin('1 day', hour + interval '1 day' - interval '1 ms', '2000-01-01Z'), '-infinity') AS day
    FROM since
  ), read AS (
    SELECT own.* FROM days, (SELECT DISTINCT key FROM research.sums WHERE span = 'ever') AS known, LATERAL (
      SELECT * FROM research.sums AS s WHERE span = 'hour' AND s.key = known.key AND at >= hour AND at < day
      UNION ALL SELECT * FROM research.sums AS s WHERE span = 'day' AND s.key = known.key AND at >= day
        AND ($1 = 'day' OR $2::float8 IS NOT NULL)
      UNION ALL SELECT * FROM research.sums AS s WHERE span = 'ever' AND s.key = known.key
        AND $1 <> 'day' AND $2::float8 IS NULL
    ) AS own
  )
  SELECT CASE $1 WHEN 'key' THEN key WHEN 'model' THEN model ELSE to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS name,
    sum(completed)::float8 AS completed, sum(failed)::float8 AS failed, sum(stopped)::float8 AS stopped,
    sum(dollars)::float8 AS dollars, sum(priced)::float8 AS "withDollars", sum(input_tokens) AS "inputTokens",
    sum(output_tokens) AS "outputTokens", sum(unsaid)::float8 AS unreported
  FROM read GROUP BY 1 HAVING sum(completed + failed + stopped) > 0 ORDER BY 1`;

/** Reads what keys have used. Parameter: keys. */
const FIGURES = defineSql("figures")`
  SELECT id, created::float8, said::float8 AS spent, reserved::float8, begun::float8 AS "reservedByRunning", running::int, waiting::int, price::float8,
    is_measured AS "isMeasured",
    extract(epoch FROM created_free_at - clock_timestamp())::float8 * 1000 AS "createdFreeMs",
    extract(epoch FROM said_free_at - clock_timestamp())::float8 * 1000 AS "spentFreeMs"
  FROM research.keys AS own, LATERAL research.figures(own) WHERE id = ANY ($1)`;

const NOTHING = {
  created: 0,
  spent: 0,
  reserved: 0,
  reservedByRunning: 0,
  running: 0,
  waiting: 0,
  isMeasured: true,
};

/** Reads what keys have used; the result returns zeros for a key that was not added. Rejects as `Database.read` does. */
export async function createFiguresReader(database: Pick<Database, "read">, keys: readonly string[]) {
  const rows = await database.read(FIGURES, [keys]);
  return (key: string): KeyFigures => {
    const row = rows.find(({ id }) => id === key) ?? {};
    return { ...NOTHING, ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) };
  };
}

/** Lists the first MOST_COUNTED + 1 waiting conversations of a key, and the ms until create calls are sent again. Parameter: key. */
const QUEUE = defineSql("queue")`
  SELECT ARRAY(
    SELECT request_id::text FROM ${WAITS} AND key = $1 ORDER BY due_at LIMIT ${MOST_COUNTED + 1}
  ) AS ids, (SELECT extract(epoch FROM next_at - now())::float8 * 1000 FROM research.gate WHERE kind IS NOT NULL) AS closed_ms`;

/** How long the queue of a key is cached, in ms, because many conversations may ask for their places. */
const REMEMBERED_MS = 500;
const MOST_REMEMBERED = 1_000;

interface KeyQueue {
  /** The places of the first waiting conversations, by id. */
  places: ReadonlyMap<string, number>;
  progress: (place: number) => string;
}

/** Reads which conversations of a key wait, and why. */
export class QueueReader {
  readonly #queues = new Map<string, { at: number; queue: Promise<KeyQueue> }>();
  constructor(
    private readonly parts: { database: Pick<Database, "read">; keys: Pick<KeyStore, "list">; clock: Clock },
  ) {}

  /** Returns a conversation's place as JSON text; undefined if the conversation does not wait or the queue cannot be read. */
  async readProgress(keyId: string, requestId: string): Promise<string | undefined> {
    const now = this.parts.clock.monotonic();
    let cached = this.#queues.get(keyId);
    if (cached === undefined || now - cached.at > REMEMBERED_MS) {
      if (this.#queues.size >= MOST_REMEMBERED) this.#queues.clear();
      cached = { at: now, queue: this.#read(keyId) };
      this.#queues.set(keyId, cached);
    }
    const queue = await cached.queue.catch(() => undefined);
    const isLonger = queue !== undefined && queue.places.size > MOST_COUNTED;
    const place = queue?.places.get(requestId) ?? (isLonger ? MOST_COUNTED : undefined);
    return place === undefined ? undefined : queue?.progress(place);
  }

  async #read(keyId: string): Promise<KeyQueue> {
    const { clock, database, keys } = this.parts;
    const [row] = await database.read(QUEUE, [keyId]);
    const { ids, closed_ms: closedMs } = row as { ids: string[]; closed_ms: number | null };
    const { budgets = {} } = (await keys.list()).find(({ id }) => id === keyId) ?? {};
    const of = ids.length > MOST_COUNTED ? undefined : ids.length;
    const figures = (await createFiguresReader(database, [keyId]))(keyId);
    const why = { budgets, figures, closedMs: closedMs ?? 0, now: clock.now() };
    return {
      places: new Map(ids.map((id, place) => [id, place])),
      progress: (done) => formatQueueProgress({ done: Math.min(done, MOST_COUNTED), of }, why),
    };
  }
}

/** Reads what the page shows from the database. Times are the database's. */
export class PostgresOverview implements Overview {
  constructor(private readonly parts: { database: Database; clock: Clock }) {}

  async countStates() {
    const [counts] = await this.parts.database.read(STATES, []);
    return counts as Record<KnownStatus, number>;
  }

  async listNewest(limit: number, state?: KnownStatus) {
    const rows = await this.parts.database.read(NEWEST, [limit, state ? [state] : STATUSES]);
    return { at: this.#readTime(rows), conversations: rows.map(convertListedConversation) };
  }

  async find(requestId: string) {
    if (!isConversationId(requestId)) return undefined;
    const [row] = await this.parts.database.read(FIND, [requestId]);
    return row && { at: row.at.getTime() as number, conversation: convertListedConversation(row) };
  }

  async findJob(requestId: string): Promise<ResearchJob | undefined> {
    if (!isConversationId(requestId)) return undefined;
    const [row] = await this.parts.database.read(JOB, [requestId]);
    return row?.job ? (parseExact(row.job, "output_schema") as ResearchJob) : undefined;
  }

  async use(keys: readonly LimitedKey[]) {
    const { clock, database } = this.parts;
    const ids = keys.map(({ id }) => id);
    const rows = await database.read(HOURS, [ids]);
    const figures = await createFiguresReader(database, ids);
    const at = clock.now();
    const findHourUse = (id: string, operation: string): HourUse => {
      const row = rows.find((counter) => counter.key === id && counter.operation === operation);
      return { used: row?.used ?? 0, nextAt: row?.next_at?.getTime() };
    };
    const uses = keys.map((key) => {
      const hours = { create: findHourUse(key.id, "create"), stop: findHourUse(key.id, "stop") };
      return computeKeyUse(key, { at, hours, figures: figures(key.id) });
    });
    return { at, uses };
  }

  async listSpent(by: SpentBy, sinceMs?: number): Promise<SpentSum[]> {
    return (await this.parts.database.read(SPENT, [by, sinceMs])) as SpentSum[];
  }

  /** Returns the database's time; this process's time if an empty result does not have it. */
  #readTime([row]: readonly QueryResultRow[]): number {
    return row?.at.getTime() ?? this.parts.clock.now();
  }
}

function convertListedConversation(row: QueryResultRow): ListedConversation {
  return {
    ...convertConversation(row.request_id, row),
    keyId: row.key,
    startedAt: row.started_at?.getTime(),
  };
}
