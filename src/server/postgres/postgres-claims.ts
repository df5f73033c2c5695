import { parseExact } from "../../core/json/exact-json.js";
import type { ResearchJob } from "../../core/researcher.js";
import {
  type Claim,
  ConversationStopped,
  type Outcome,
  parseBill,
  StoreOutcomeUnknownError,
  StoreUnavailableError,
  WAIT_LIMIT_MS,
} from "../conversations/conversation-store.js";
import { PROBE_MS } from "../conversations/create-gate.js";
import { TroubleLog } from "../monitoring/operator-log.js";
import { defineSql, type SqlStatement } from "./database.js";
import { listenForNotifications, notifyProcesses, notifyWorker } from "./notifications.js";
import { type LeaseOptions, ProcessLease } from "./process-lease.js";

/** Claims a conversation. Parameters: worker, key served last, kind of claim. A row without an id only has the ms until the next look. */
const CLAIM = defineSql("claim")`
  SELECT request_id, key, starts, claims, job, coalesce((SELECT version FROM research.gate), 0) AS gate,
    extract(epoch FROM due_at - now())::float8 * 1000 AS due_ms
  FROM research.claim($1, $2, $3, ${PROBE_MS}, ${WAIT_LIMIT_MS})`;

/** Stores the progress. Parameters: request_id, worker, claims, progress. */
const TELL = defineSql("tell")`
  UPDATE research.conversations SET progress = $4 WHERE request_id = $1 AND worker = $2 AND claims = $3`;

/**
 * Writes an outcome. Parameters: request_id, worker, claims, status, output, reason, data, cost, tokens in, tokens out,
 * fallback model. Locks the price of a model only if the price changes. Returns no row if the claim is no longer valid.
 */
const END = defineSql("end")`
  WITH ended AS (
    UPDATE research.conversations
    SET status = $4, output = $5, reason = $6, data = $7, cost_dollars = $8, input_tokens = $9, output_tokens = $10,
      model = coalesce(model, $11), progress = NULL, completed_at = now(), worker = NULL, ended_job = job, job = NULL
    WHERE request_id = $1 AND worker = $2 AND claims = $3
      AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
    RETURNING request_id, coalesce(model, '') AS model, cost_dollars, remote IS NULL OR remote_id IS NOT NULL AS has_run
  ), priced AS (
    INSERT INTO research.models AS own SELECT model, cost_dollars, (cost_dollars IS NULL)::int FROM ended
    WHERE (cost_dollars IS NOT NULL OR has_run) AND NOT EXISTS (
      SELECT FROM research.models AS known WHERE known.model = ended.model
        AND (dollars >= cost_dollars OR (cost_dollars IS NULL AND (dollars IS NOT NULL OR unpriced >= 3)))
    )
    ON CONFLICT (model) DO UPDATE
    SET dollars = greatest(own.dollars, excluded.dollars), unpriced = own.unpriced + excluded.unpriced
  )
  SELECT research.tally(ARRAY[request_id], '{ended}', 1, false) FROM ended`;

/** Gives up a claim. Parameters: request_id, worker, claims. The conversation keeps its place in the queue, and the start does not count. */
const GIVE_BACK = defineSql("give-back")`
  UPDATE research.conversations SET worker = NULL, starts = greatest(0, starts - 1)
  WHERE request_id = $1 AND worker = $2 AND claims = $3`;

/** Gives up a worker's claims except the known ones, because the answers to the others were lost. Parameters: worker, known ids. */
const GIVE_BACK_OTHERS = defineSql("give-back-others")`
  UPDATE research.conversations SET worker = NULL, starts = greatest(0, starts - 1)
  WHERE worker = $1 AND NOT request_id = ANY ($2::uuid[])`;

/** Returns those of the ids that a client has stopped. Parameter: ids. */
const STOPPED = defineSql("stopped")`
  SELECT request_id::text FROM research.conversations WHERE request_id = ANY ($1::uuid[]) AND status = 'STOPPED'`;

/** Maximum wait of a claim before it looks for work again, in ms, because a notification can be lost. */
const LOOK_MS = 500;

const createStopped = () => new ConversationStopped("the conversation was stopped");

/** A claim of this store, which `worker` and `number` together identify. */
class OwnClaim implements Claim {
  readonly abort = new AbortController();
  /** Whether the outcome is being written; the claim is then no longer aborted. */
  ending = false;
  constructor(
    readonly job: ResearchJob,
    readonly starts: number,
    readonly worker: string,
    readonly number: number,
    /** The version of the gate at the time of the claim. */
    readonly gate: number,
    /** Monotonic ms at which the claim was made. */
    readonly since: number,
  ) {}
  get signal(): AbortSignal {
    return this.abort.signal;
  }
}

/** The worker's half of the store. Claims conversations under one lease, and learns which claims were lost. */
export class PostgresClaims {
  readonly #held = new Map<string, OwnClaim>();
  readonly lease: ProcessLease;
  readonly #closing = new AbortController();
  #listening: Promise<void> | undefined;
  /** The end of the last task. Claims and checks of existing claims run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** The id of the key that was served last. */
  #lastKey = "";
  #wake = new AbortController();
  /** Number of calls of `claim` that look for work. */
  #looking = 0;
  readonly #troubles: TroubleLog;

  constructor(private readonly options: Omit<LeaseOptions, "onLooked" | "onLost">) {
    this.#troubles = new TroubleLog(options.log, options.clock);
    this.lease = new ProcessLease({
      ...options,
      onLooked: (held, askedAt) => this.#reconcile(held, askedAt),
      onLost: () => {
        for (const requestId of this.#held.keys()) this.#lose(requestId, new Error("the lease was lost"));
      },
    });
  }

  async open(): Promise<void> {
    await this.lease.open();
    if (this.options.role === "api") return;
    const { clock, database } = this.options;
    this.#listening = listenForNotifications(database, clock, this.#closing.signal, (payload) => {
      const [word, requestId = ""] = payload.split(" ");
      if (word === "stop") {
        this.#lose(requestId, createStopped());
        return;
      }
      if (word === "connected") this.lease.lookSoon();
      if (word === "work" && requestId !== "" && requestId !== this.lease.id) return;
      if (this.#looking > 0) this.#wakeUp();
      else if (requestId !== "") void notifyProcesses(database, "work");
    });
  }

  /**
   * Wakes one worker: this process if it waits for work, otherwise another one. A busy worker wakes all others. Waking
   * all at once would make all of them look for the same conversation.
   */
  async wakeOne(): Promise<void> {
    if (this.#looking > 0) this.#wakeUp();
    else await notifyWorker(this.options.database, this.lease.id);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closing"));
    await this.#listening;
    await this.lease.close();
  }

  /** Waits for a conversation to claim. Rejects with `signal.reason`. */
  async claim(signal: AbortSignal, which: "any" | "begun" | "new" = "any"): Promise<Claim> {
    this.#looking += 1;
    try {
      for (let hasWaited = false; ; hasWaited = true) {
        signal.throwIfAborted();
        const wake = this.#wake.signal;
        const claim = await this.#runInTurn(() => this.#take(which));
        if (!(claim instanceof OwnClaim)) {
          await this.options.clock.sleep(claim, AbortSignal.any([signal, wake])).catch(() => {});
          continue;
        }
        // A notification wakes one worker; each worker wakes the next one as long as there is work.
        if (hasWaited) void notifyWorker(this.options.database, this.lease.id);
        if (!signal.aborted) return claim;
        await this.returnClaim(claim);
      }
    } finally {
      this.#looking -= 1;
    }
  }

  /** Writes an outcome. Repeats that until the database answers or the lease expires. Returns false if the claim is not valid. */
  async end(claim: Claim, outcome: Outcome): Promise<boolean> {
    const ownClaim = this.#getOwnClaim(claim);
    const output = outcome.status === "COMPLETED" ? outcome.output : undefined;
    const reason = outcome.status === "FAILED" ? JSON.stringify(outcome.reason) : undefined;
    ownClaim.ending = true;
    try {
      const { model, dollars, inputTokens, outputTokens } = parseBill(outcome.data);
      const values = [
        outcome.status,
        output,
        reason,
        outcome.data,
        dollars,
        inputTokens,
        outputTokens,
        model,
      ];
      const { rows, isRepeated } = await this.write(claim, END, values);
      // If the answer to an attempt was lost, that attempt may have written the outcome.
      return rows.length > 0 || isRepeated;
    } finally {
      this.#held.delete(ownClaim.job.request_id);
    }
  }

  /** Runs a repeatable statement until the database answers. Returns no rows if the lease expires before that. */
  async write(claim: Claim, statement: SqlStatement, values: readonly unknown[]) {
    const { job, number, worker } = this.#getOwnClaim(claim);
    const { clock, database } = this.options;
    for (let isRepeated = false; ; await clock.sleep(LOOK_MS)) {
      try {
        const rows = await database.run(statement, [job.request_id, worker, number, ...values]);
        return { rows, isRepeated };
      } catch (error) {
        if (error instanceof StoreOutcomeUnknownError) isRepeated = true;
        else if (!(error instanceof StoreUnavailableError)) throw error;
      }
      if (worker !== this.lease.id || database.isGivenUp) return { rows: [], isRepeated: false };
    }
  }

  async tell(claim: Claim, progress: string): Promise<void> {
    const { job, number, worker } = this.#getOwnClaim(claim);
    await this.options.database.run(TELL, [job.request_id, worker, number, progress]);
  }

  /** Returns whether the claim is valid by the clock, because timers may be late. */
  isHolding(claim: Claim): boolean {
    return this.#held.get(claim.job.request_id) === claim && this.lease.isValid;
  }

  /** Returns the fields of a claim with which statements check the claim. */
  getFence(claim: Claim): { worker: string; number: number; gate: number } {
    return this.#getOwnClaim(claim);
  }

  async returnClaim(claim: Claim): Promise<void> {
    const { job, number, worker } = this.#getOwnClaim(claim);
    this.#held.delete(job.request_id);
    // If the claim cannot be returned now, the end of the lease frees it.
    await this.options.database.run(GIVE_BACK, [job.request_id, worker, number]).catch(() => {});
    void this.wakeOne();
  }

  #getOwnClaim(claim: Claim): OwnClaim {
    if (!(claim instanceof OwnClaim)) throw new Error("the claim is not one of this store");
    return claim;
  }

  /** Returns a claim, or the ms until the next look: 0 if another worker was quicker, longer while limits block the waiting conversations. */
  async #take(which: string): Promise<OwnClaim | number> {
    const worker = this.lease.id;
    const rows = await this.options.database
      .run(CLAIM, [worker, this.#lastKey, which])
      .catch((error) => this.#troubles.noteFailure("claims of work", error));
    if (rows !== undefined) this.#troubles.noteRecovery("claims of work");
    const [row] = rows ?? [];
    if (row === undefined || worker !== this.lease.id) return LOOK_MS;
    if (row.request_id === null) return Math.min(LOOK_MS, Math.abs(row.due_ms ?? LOOK_MS));
    const claim = new OwnClaim(
      parseExact(row.job, "output_schema") as ResearchJob,
      row.starts,
      worker,
      row.claims,
      row.gate,
      this.options.clock.monotonic(),
    );
    this.#held.set(row.request_id, claim);
    this.#lastKey = row.key;
    return claim;
  }

  /** Aborts the claims that the database does not have, and gives up those that only the database has. */
  async #reconcile(held: ReadonlySet<string>, askedAt: number): Promise<void> {
    const lost = [...this.#held].filter(([id, { since }]) => since < askedAt && !held.has(id));
    if (lost.length > 0) await this.#loseClaims(lost);
    if ([...held].every((requestId) => this.#held.has(requestId))) return;
    await this.#runInTurn(() =>
      this.options.database.run(GIVE_BACK_OTHERS, [this.lease.id, [...this.#held.keys()]]),
    );
  }

  /** Aborts lost claims. Checks which were stopped, because a notification may be late and some databases have none. */
  async #loseClaims(lost: readonly [string, OwnClaim][]): Promise<void> {
    const rows = await this.options.database.read(STOPPED, [lost.map(([id]) => id)]).catch(() => []);
    const stoppedIds = new Set(rows.map(({ request_id }) => request_id));
    for (const [id, claim] of lost) {
      if (this.#held.get(id) === claim)
        this.#lose(id, stoppedIds.has(id) ? createStopped() : new Error("taken over"));
    }
  }

  #lose(requestId: string, why: Error): void {
    const claim = this.#held.get(requestId);
    if (claim === undefined || claim.ending) return;
    this.#held.delete(requestId);
    claim.abort.abort(why);
  }

  #wakeUp(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  #runInTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result.catch(() => {});
    return result;
  }
}
