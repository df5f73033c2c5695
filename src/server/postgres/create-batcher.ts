import type { Clock } from "../../core/clock.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversations/conversation-store.js";
import { type Database, defineSql, StatementRefused } from "./database.js";
import type { StateReader } from "./read-states.js";

/** A conversation that is to be created. */
export interface NewConversation {
  requestId: string;
  keyId: string;
  /** Maximum number of create calls per hour; Infinity means no limit. */
  limit: number;
  /** The job as JSON text. */
  job: string;
}

/**
 * Creates conversations. Parameters: request_ids, keys, limits, jobs, minimum ms in PENDING. Counts keys in their
 * order, so that statements cannot deadlock. A create call without a row exceeds a limit. SQLSTATE 23505: an id exists.
 */
const CREATE = defineSql("create")`
  WITH asked AS (
    SELECT *, row_number() OVER (PARTITION BY key ORDER BY number) AS turn
    FROM unnest($1::uuid[], $2::text[], $3::float8[], $4::text[]) WITH ORDINALITY
      AS one (request_id, key, size, job, number)
  ), keys AS (
    SELECT key, count(*)::int AS wanted, least(max(size), 1e15)::bigint AS size FROM asked
    WHERE size >= 1 AND size < 'Infinity' GROUP BY key ORDER BY key OFFSET 0
  ), counted AS MATERIALIZED (
    SELECT key, research.take(key, 'create', wanted, size) AS granted FROM keys
  ), created AS (
    INSERT INTO research.conversations (request_id, key, job, due_at, model, is_counted)
    SELECT request_id, key, job, now() + $5::float8 * interval '1 ms', (SELECT max(model) FROM research.workers), size < 'Infinity'
    FROM asked LEFT JOIN counted USING (key) WHERE size = 'Infinity' OR turn <= granted
    RETURNING request_id, created_at
  ), tallied AS MATERIALIZED (
    SELECT research.tally(array_agg(request_id), '{created}', 1, false) FROM created
  )
  SELECT created.* FROM created, tallied`;

/** Creates conversations of keys without limits and budgets. Parameters: request_ids, keys, jobs, minimum ms in PENDING. */
const CREATE_UNLIMITED = defineSql("create-unlimited")`
  INSERT INTO research.conversations (request_id, key, job, due_at, model)
  SELECT request_id, key, job, now() + $4::float8 * interval '1 ms', (SELECT max(model) FROM research.workers)
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS asked (request_id, key, job)
  RETURNING request_id, created_at`;

/** Maximum number of concurrent statements: while one commits, create calls gather for the next one. */
const AT_ONCE = 2;
/** Maximum number of create calls in one statement, and of characters of their jobs (unless the first job alone is longer). */
const MOST_CREATES = 100;
const MOST_CHARACTERS = 1_000_000;
/** How long the store searches for a create call whose answer was lost, in ms; a server restarts within that time. */
const LOOK_LIMIT_MS = 10_000;
const LOOK_MS = 200;
const ALREADY_THERE = "23505";

/** How long a create call may stay unsent before it is rejected, in ms. After that the database probably hangs, and the client may have left. */
const WAIT_LIMIT_MS = 5_000;

interface Waiting {
  /** Monotonic ms at which the create call was requested. */
  since: number;
  conversation: NewConversation;
  resolve: (createdAt: Date | undefined | Promise<Date | undefined>) => void;
  reject: (error: unknown) => void;
}

/** Creates each conversation exactly once. Those requested in one turn of the event loop share a statement and its commit. */
export class CreateBatcher {
  #waiting: Waiting[] = [];
  #underWay = 0;
  constructor(
    private readonly parts: {
      database: Database;
      states: StateReader;
      clock: Clock;
      /** Minimum time in PENDING, in ms. */
      pendingMs: number;
    },
  ) {}

  /** Creates a conversation. Returns when that was; undefined if a limit refuses it. Rejects with StoreUnavailableError or StoreOutcomeUnknownError. */
  create(conversation: NewConversation): Promise<Date | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ since: this.parts.clock.monotonic(), conversation, resolve, reject });
      setImmediate(() => this.#send());
    });
  }

  #send(): void {
    if (this.#underWay === AT_ONCE) return;
    const oldest = this.parts.clock.monotonic() - WAIT_LIMIT_MS;
    while (this.#waiting[0] && this.#waiting[0].since < oldest)
      this.#waiting.shift()?.reject(new StoreUnavailableError("the database takes too long"));
    if (this.#waiting.length === 0) return;
    let characters = 0;
    const size = this.#waiting.findIndex(({ conversation }, index) => {
      characters += conversation.job.length;
      return index === MOST_CREATES || (index > 0 && characters > MOST_CHARACTERS);
    });
    const batch = this.#waiting.splice(0, size === -1 ? this.#waiting.length : size);
    this.#underWay += 1;
    void this.#write(batch).then(() => {
      this.#underWay -= 1;
      this.#send();
    });
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const created = await this.#insert(batch.map(({ conversation }) => conversation));
      for (const { conversation, resolve } of batch) resolve(created.get(conversation.requestId));
    } catch (error) {
      for (const { conversation, resolve, reject } of batch) {
        if (error instanceof StoreUnavailableError) reject(error);
        else resolve(this.#createAlone(conversation, error));
      }
    }
  }

  async #insert(conversations: readonly NewConversation[]): Promise<Map<string, Date>> {
    const { database, pendingMs } = this.parts;
    const list = (name: keyof NewConversation) => conversations.map((conversation) => conversation[name]);
    const [ids, keys, limits, jobs] = [list("requestId"), list("keyId"), list("limit"), list("job")];
    const rows = limits.every((limit) => limit === Number.POSITIVE_INFINITY)
      ? await database.run(CREATE_UNLIMITED, [ids, keys, jobs, pendingMs])
      : await database.run(CREATE, [ids, keys, limits, jobs, pendingMs]);
    return new Map(rows.map(({ request_id, created_at }) => [request_id, created_at]));
  }

  /**
   * Looks up a create call whose answer was lost, and repeats it under the same id if that is missing. If the first
   * attempt still runs, the repeat waits for it and fails. A repeat may be refused because the first attempt counted.
   */
  async #createAlone(conversation: NewConversation, why: unknown): Promise<Date | undefined> {
    const { requestId } = conversation;
    let lost = why instanceof StoreOutcomeUnknownError ? why : undefined;
    for (const end = this.parts.clock.monotonic() + LOOK_LIMIT_MS; ; ) {
      try {
        const existing = lost && (await this.parts.states.get(requestId));
        if (existing !== undefined) return existing.created_at;
        const created = (await this.#insert([conversation])).get(requestId);
        // The first attempt may still run, and may have used up the hour.
        if (created !== undefined || lost === undefined) return created;
      } catch (error) {
        if (error instanceof StoreOutcomeUnknownError) lost ??= error;
        else if (!(error instanceof StatementRefused && error.code === ALREADY_THERE && lost)) {
          if (lost === undefined || !(error instanceof StoreUnavailableError)) throw error;
        }
      }
      if (this.parts.clock.monotonic() > end) throw lost;
      await this.parts.clock.sleep(LOOK_MS);
    }
  }
}
