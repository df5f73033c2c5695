import type { Clock } from "../../core/clock.js";
import { stringifyExact } from "../../core/json/exact-json.js";
import type { ExchangeStore, ResearcherFacts, ResearchJob } from "../../core/researcher.js";
import { describeError } from "../../core/text/format-text.js";
import { findBudgetRefusal } from "../conversations/budget-rules.js";
import {
  type Caller,
  type Claim,
  type Conversation,
  type ConversationStore,
  type CreateResult,
  type Outcome,
  type RateLimited,
  type StopResult,
  type StoreCounts,
  StoreUnavailableError,
} from "../conversations/conversation-store.js";
import type { KeyBudgets } from "../keys/key-store.js";
import { CreateBatcher } from "./create-batcher.js";
import { type Database, defineSql, PORTION } from "./database.js";
import { PostgresKeyStore } from "./key-store.js";
import { notifyProcesses } from "./notifications.js";
import type { PostgresClaims } from "./postgres-claims.js";
import {
  convertConversation,
  createFiguresReader,
  isConversationId,
  PostgresOverview,
  QueueReader,
  StateReader,
  UNFINISHED,
  WAITS,
} from "./read-states.js";
import { buildCancellationInsert, convertRemoteRow, PostgresUpstreamRequests } from "./upstream-requests.js";

/** Builds a column with the ms until a time. */
const buildLeftQuery = (time: string) => `extract(epoch FROM ${time} - clock_timestamp())::float8 * 1000`;

/** Returns the ms until the hour allows the next request. Parameters: key, operation. */
const RETRY_AFTER = defineSql("retry-after")`
  SELECT ${buildLeftQuery("at + interval '1 hour'")} AS ms
  FROM research.counters JOIN research.slots USING (key, operation)
  WHERE key = $1 AND operation = $2 AND number = taken % size`;

const READY = defineSql("ready")`SELECT FROM research.conversations LIMIT 1`;

const VISIBLE = "request_id = $1::uuid AND ($2::text IS NULL OR key = $2)";

/** Returns an output. Parameters: request_id, key that may see it (NULL: any). */
const OUTPUT = defineSql(
  "output",
)`SELECT status, created_at, completed_at, reason, progress, output, data FROM research.conversations WHERE ${VISIBLE}`;

/** Stops a conversation. Parameters: request_id, key that may see it (NULL: any), counted key, limit. */
const STOP = defineSql("stop")`
  WITH counted AS MATERIALIZED (
    SELECT CASE WHEN $4::float8 > 1e15 THEN true WHEN $4 < 1 THEN false
      ELSE research.take($3, 'stop', 1, $4::bigint) = 1 END AS allowed
  ), stopped AS (
    UPDATE research.conversations
    SET status = 'STOPPED', completed_at = now(), worker = NULL, ended_job = job, job = NULL, reason = NULL
    WHERE ${VISIBLE} AND completed_at IS NULL AND (SELECT allowed FROM counted)
    RETURNING request_id, status, remote, remote_id
  ), passed_on AS (${buildCancellationInsert("stopped")}), forgotten AS (DELETE FROM research.exchanges WHERE request_id IN (SELECT request_id FROM stopped))
  SELECT allowed, stopped.*, research.tally(ARRAY[request_id], '{ended}', 1, false) FROM counted LEFT JOIN stopped ON true`;

/** Deletes old conversations. Parameter: age in ms. */
const DELETE_ENDED = defineSql("delete-ended")`SELECT research.delete_ended($1, ${PORTION}) AS count`;

/** Counts the work. Unfinished conversations without a worker are waiting. Reads only the first due conversation of each key. */
const COUNTS = defineSql("counts")`
  WITH RECURSIVE heads AS (
    (SELECT key, due_at FROM ${WAITS} ORDER BY key, due_at LIMIT 1)
    UNION ALL SELECT next.* FROM heads, LATERAL (
      SELECT key, due_at FROM ${WAITS} AND key > heads.key ORDER BY key, due_at LIMIT 1
    ) AS next
  ), counted AS (SELECT count(*)::int AS held FROM research.conversations WHERE worker IS NOT NULL)
  SELECT held AS working, greatest(0, ${UNFINISHED} - held)::int AS waiting,
    greatest(0, extract(epoch FROM now() - least((SELECT min(due_at) FROM heads), (
      SELECT min(due_at) FROM research.conversations
      WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING')
    )))::float8 * 1000) AS "oldestDueMs",
    (SELECT count(*)::int FROM research.workers) AS workers,
    (SELECT count(*)::int FROM research.cancellations) AS cancellations,
    EXISTS (SELECT FROM research.gate WHERE kind IS NOT NULL) AS "isRefused"
  FROM counted`;

/** Adds an exchange. Parameters: request_id, record. Waits for a stop that is under way, and adds nothing after it (§3). */
const APPEND_EXCHANGE = defineSql("append-exchange")`
  WITH open AS (
    SELECT request_id FROM research.conversations
    WHERE request_id = $1::uuid AND completed_at IS NULL FOR SHARE
  )
  INSERT INTO research.exchanges (request_id, record) SELECT request_id, $2 FROM open`;

const READ_EXCHANGES = defineSql(
  "read-exchanges",
)`SELECT record FROM research.exchanges WHERE request_id = $1::uuid ORDER BY number`;

/** Minimum time between notifications of new work, in ms, because each notification locks the whole database. */
const NOTIFY_MS = 20;

export interface StoreParts {
  database: Database;
  claims: PostgresClaims;
  clock: Clock;
  /** Minimum time in PENDING, in ms. */
  pendingMs: number;
}

/** Stores conversations in PostgreSQL for any number of processes. Times are the database's. */
export class PostgresStore implements ConversationStore {
  readonly keys: PostgresKeyStore;
  readonly exchanges: ExchangeStore = {
    read: async (requestId) => {
      const rows = await this.parts.database.read(READ_EXCHANGES, [requestId]);
      return rows.map(({ record }) => JSON.parse(record));
    },
    append: async (requestId, record) => {
      await this.parts.database.run(APPEND_EXCHANGE, [requestId, JSON.stringify(record)]);
    },
  };
  readonly overview: PostgresOverview;
  readonly remote: PostgresUpstreamRequests;
  readonly #states: StateReader;
  readonly #queue: QueueReader;
  readonly #creates: CreateBatcher;
  #notifying: "idle" | "waiting" | "repeat" = "idle";
  constructor(private readonly parts: StoreParts) {
    const { database, clock } = parts;
    this.#states = new StateReader(database, clock);
    this.keys = new PostgresKeyStore(database, clock);
    this.#queue = new QueueReader({ database, clock, keys: this.keys });
    this.#creates = new CreateBatcher({ ...parts, states: this.#states });
    this.overview = new PostgresOverview(parts);
    this.remote = new PostgresUpstreamRequests(parts);
  }

  /** The figures of this process, which are available even while the database is not. */
  get figures() {
    return { ...this.parts.database.figures, leasesLost: this.parts.claims.lease.lost };
  }

  async create({ keyId, limits, budgets }: Caller, job: ResearchJob): Promise<CreateResult> {
    const limit = limits.create;
    const conversation = { requestId: job.request_id, keyId, limit, job: stringifyExact(job) };
    const createdAt = await this.#creates.create(conversation);
    if (createdAt === undefined) return this.#explainRefusal(keyId, budgets);
    void this.#notifyWorkers();
    return { kind: "created", createdAt: createdAt.getTime() };
  }

  async get(caller: Caller, requestId: string): Promise<Conversation | undefined> {
    if (!isConversationId(requestId)) return undefined;
    const row = await this.#states.get(requestId.toLowerCase());
    if (row === undefined || (caller.ownOnly && row.key !== caller.keyId)) return undefined;
    const conversation = convertConversation(requestId, row);
    if (row.status !== "PENDING") return conversation;
    const progress = await this.#queue.readProgress(row.key, conversation.requestId);
    return { ...conversation, ...(progress !== undefined && { progress }) };
  }

  async output(caller: Caller, requestId: string) {
    if (!isConversationId(requestId)) return undefined;
    const visibleTo = caller.ownOnly ? caller.keyId : null;
    const [row] = await this.parts.database.read(OUTPUT, [requestId, visibleTo]);
    if (row === undefined) return undefined;
    const conversation = convertConversation(requestId, row);
    return { conversation, output: row.output ?? undefined, data: row.data ?? undefined };
  }

  async stop(caller: Caller, requestId: string): Promise<StopResult> {
    const { keyId, limits, ownOnly } = caller;
    const { database } = this.parts;
    // No row has the nil id, but the stop still counts.
    const id = isConversationId(requestId) ? requestId : "00000000-0000-0000-0000-000000000000";
    const [row] = await database.run(STOP, [id, ownOnly ? keyId : null, keyId, limits.stop]);
    if (row?.allowed !== true) return this.#explainRateLimit(keyId, "stop");
    if (row.request_id !== null) {
      void notifyProcesses(database, `stop ${row.request_id}`);
      return { kind: "stopped", ...(row.remote && { remote: convertRemoteRow(row) }) };
    }
    const conversation = await this.get(caller, requestId);
    return conversation === undefined
      ? { kind: "not-found" }
      : { kind: "already-ended", status: conversation.status };
  }

  readonly agreeOn = (settings: string) => this.parts.claims.lease.agreeOn(settings);
  readonly declareResearch = (facts: ResearcherFacts) => this.parts.claims.lease.declareResearch(facts);
  readonly closeAtOnce = (ms?: number) => this.parts.database.closeAtOnce(ms);
  readonly claim = (signal: AbortSignal) => this.parts.claims.claim(signal);
  readonly tell = (claim: Claim, progress: string) => this.parts.claims.tell(claim, progress);
  readonly end = (claim: Claim, outcome: Outcome) => this.parts.claims.end(claim, outcome);
  readonly returnClaim = (claim: Claim) => this.parts.claims.returnClaim(claim);

  async deleteEnded(ageMs: number): Promise<number> {
    for (let deleted = 0; ; ) {
      const [row] = await this.parts.database.run(DELETE_ENDED, [ageMs], "long");
      deleted += row?.count;
      if (row?.count < PORTION) return deleted;
    }
  }

  async readCounts(): Promise<StoreCounts> {
    const [counts] = await this.parts.database.read(COUNTS, []);
    return counts as StoreCounts;
  }

  async checkReady(): Promise<void> {
    await this.parts.database.run(READY, [], "probe").catch((error) => {
      throw new StoreUnavailableError(`states cannot be read: ${describeError(error)}`);
    });
  }

  async close(): Promise<void> {
    this.closeAtOnce();
    await this.parts.claims.close();
    await this.parts.database.close();
  }

  /** Returns the limit that blocks the key's next create call longest. */
  async #explainRefusal(keyId: string, budgets: KeyBudgets = {}): Promise<CreateResult> {
    if (!budgets.budget && !budgets.dollars) return this.#explainRateLimit(keyId, "create");
    const [figures, hour] = await Promise.all([
      createFiguresReader(this.parts.database, [keyId]),
      this.#explainRateLimit(keyId, "create"),
    ]);
    const refusal = findBudgetRefusal(budgets, figures(keyId)) ?? hour;
    return refusal.kind === "rate-limited" && refusal.retryAfterMs < hour.retryAfterMs ? hour : refusal;
  }

  async #explainRateLimit(keyId: string, operation: "create" | "stop"): Promise<RateLimited> {
    const [row] = await this.parts.database.read(RETRY_AFTER, [keyId, operation]);
    return { kind: "rate-limited", retryAfterMs: Math.max(0, row?.ms ?? 0) };
  }

  /** Notifies a worker at once. New work during the following wait shares the next notification. Workers also poll. */
  async #notifyWorkers(): Promise<void> {
    if (this.#notifying !== "idle") {
      this.#notifying = "repeat";
      return;
    }
    do {
      this.#notifying = "waiting";
      await this.parts.claims.wakeOne();
      await this.parts.clock.sleep(NOTIFY_MS);
    } while ((this.#notifying as string) === "repeat");
    this.#notifying = "idle";
  }
}
