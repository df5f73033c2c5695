import { parseExactAt } from "../../json/exact-json.js";
import {
  type Claim,
  ClaimLost,
  ConversationStopped,
  costIn,
  type Outcome,
  StoreOutcomeUnknownError,
  StoreUnavailableError,
} from "../conversations/conversation-store.js";
import { Troubles } from "../monitoring/log.js";
import type { ResearchJob } from "../researchers/researcher.js";
import { type SqlStatement, sql } from "./database.js";
import { listen, notify } from "./notifications.js";
import { type LeaseOptions, ProcessLease } from "./process-lease.js";

/** worker: takes the conversation that is due longest, if the worker's lease holds. */
const CLAIM = sql("claim")`
  WITH due AS MATERIALIZED (
    SELECT request_id FROM research.conversations
    WHERE job IS NOT NULL AND worker IS NULL AND due_at <= now()
      AND EXISTS (SELECT FROM research.processes WHERE id = $1 AND expires_at > now())
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  UPDATE research.conversations AS own
  SET status = 'PROCESSING', worker = $1, starts = starts + (remote IS NULL)::int, claims = claims + 1,
    started_at = coalesce(started_at, now())
  FROM due WHERE own.request_id = due.request_id
  RETURNING own.request_id, own.starts, own.claims, own.job`;

/** request_id, worker, claims, progress */
const TELL = sql("tell")`
  UPDATE research.conversations SET progress = $4 WHERE request_id = $1 AND worker = $2 AND claims = $3`;

/** request_id, worker, claims, status, output, reason, data, cost. No row: the claim is not valid any more. */
const END = sql("end")`
  UPDATE research.conversations
  SET status = $4, output = $5, reason = $6, data = $7, cost_dollars = $8, progress = NULL, completed_at = now(),
    worker = NULL, ended_job = job, job = NULL
  WHERE request_id = $1 AND worker = $2 AND claims = $3
    AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
  RETURNING request_id`;

/** request_id, worker, claims. The place in the queue stays, and the start does not count. */
const GIVE_BACK = sql("give-back")`
  UPDATE research.conversations SET worker = NULL, starts = greatest(0, starts - 1)
  WHERE request_id = $1 AND worker = $2 AND claims = $3`;

/** worker, ids it knows of: gives back what it holds beyond them, because the answer to a claim was lost. */
const GIVE_BACK_OTHERS = sql("give-back-others")`
  UPDATE research.conversations SET worker = NULL, starts = greatest(0, starts - 1)
  WHERE worker = $1 AND NOT request_id = ANY ($2::uuid[])`;

/** ids: those of them that a client has stopped. */
const STOPPED = sql("stopped")`
  SELECT request_id::text FROM research.conversations WHERE request_id = ANY ($1::uuid[]) AND status = 'STOPPED'`;

/** How long until the next conversation is due, ms, negative if it is due already; NULL if none waits. */
const NEXT_DUE = sql("next-due")`
  SELECT extract(epoch FROM min(due_at) - now())::float8 * 1000 AS ms FROM research.conversations
  WHERE job IS NOT NULL AND worker IS NULL`;

/** How long a claim waits at most before it looks again: a notification can be lost. */
const LOOK_MS = 500;

const stopped = () => new ConversationStopped("the conversation was stopped");

/** A claim as this store knows it: `worker` and `number` together fence it off from every other one. */
class OwnClaim implements Claim {
  readonly abort = new AbortController();
  /** Whether its end is being written: other workers may no longer take it. */
  ending = false;
  constructor(
    readonly job: ResearchJob,
    readonly starts: number,
    readonly worker: string,
    readonly number: number,
    /** On the monotonic clock. */
    readonly since: number,
  ) {}
  get signal(): AbortSignal {
    return this.abort.signal;
  }
}

/** The worker's half of the store: takes conversations under one lease, and learns when it lost one. */
export class Claims {
  readonly #held = new Map<string, OwnClaim>();
  readonly lease: ProcessLease;
  readonly #closing = new AbortController();
  #listening: Promise<void> | undefined;
  /** Claims and what is done about the held ones come one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #wake = new AbortController();
  readonly #troubles: Troubles;

  constructor(private readonly options: Omit<LeaseOptions, "onRenewed" | "onLost">) {
    this.#troubles = new Troubles(options.log);
    this.lease = new ProcessLease({
      ...options,
      onRenewed: (held, askedAt) => this.#reconcile(held, askedAt),
      onLost: () => {
        for (const requestId of this.#held.keys()) this.#lose(requestId, new ClaimLost("the lease was lost"));
      },
    });
  }

  async open(): Promise<void> {
    await this.lease.open();
    if (this.options.role === "api") return;
    const { clock, database } = this.options;
    this.#listening = listen(database, clock, this.#closing.signal, (payload) => {
      const [word, requestId = ""] = payload.split(" ");
      if (word === "stop") {
        this.#lose(requestId, stopped());
        return;
      }
      if (word === "connected") this.lease.renewSoon();
      this.#wake.abort();
      this.#wake = new AbortController();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closing"));
    await this.#listening;
    await this.lease.close();
  }

  /** Waits until there is one to take. Rejects with `signal.reason` when aborted. */
  async claim(signal: AbortSignal): Promise<Claim> {
    for (;;) {
      signal.throwIfAborted();
      const wake = this.#wake.signal;
      const claim = await this.#inTurn(() => this.#take());
      if (claim !== undefined && !signal.aborted) return claim;
      if (claim !== undefined) await this.giveBack(claim);
      const waitMs = Math.min(LOOK_MS, (await this.#nextDue()) ?? LOOK_MS);
      await this.options.clock.sleep(waitMs, AbortSignal.any([signal, wake])).catch(() => {});
    }
  }

  /** Tries until the database has answered, or the lease has run out. */
  async end(claim: Claim, outcome: Outcome): Promise<boolean> {
    const own = this.#own(claim);
    const output = outcome.status === "COMPLETED" ? outcome.output : null;
    const reason = outcome.status === "FAILED" ? JSON.stringify(outcome.reason) : null;
    own.ending = true;
    try {
      const end = [outcome.status, output, reason, outcome.data ?? null, costIn(outcome.data) ?? null];
      const { rows, isRepeated } = await this.write(claim, END, end);
      // If the answer to a try was lost, that try may have written it.
      return rows.length > 0 || isRepeated;
    } finally {
      this.#held.delete(own.job.request_id);
    }
  }

  /**
   * Runs a statement with request_id, worker, claims and these values until the database has answered, or the lease has
   * run out; no rows then. It must bear to be repeated.
   */
  async write(claim: Claim, statement: SqlStatement, values: readonly unknown[]) {
    const { job, number, worker } = this.#own(claim);
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
    const { job, number, worker } = this.#own(claim);
    await this.options.database.run(TELL, [job.request_id, worker, number, progress]);
  }

  /** Whether the claim is valid as far as this process knows, by the clock and not by what its timers have done. */
  holds(claim: Claim): boolean {
    return this.#held.get(claim.job.request_id) === claim && this.lease.isValid;
  }

  async giveBack(claim: Claim): Promise<void> {
    const { job, number, worker } = this.#own(claim);
    this.#held.delete(job.request_id);
    // What is not given back now comes free with the lease.
    await this.options.database.run(GIVE_BACK, [job.request_id, worker, number]).catch(() => {});
    notify(this.options.database, "work");
  }

  #own(claim: Claim): OwnClaim {
    if (!(claim instanceof OwnClaim)) throw new Error("the claim is not one of this store");
    return claim;
  }

  async #take(): Promise<OwnClaim | undefined> {
    const worker = this.lease.id;
    const rows = await this.options.database
      .run(CLAIM, [worker])
      .catch((error) => this.#troubles.failed("claims of work", error));
    if (rows !== undefined) this.#troubles.over("claims of work");
    const row = rows?.[0];
    if (row === undefined || worker !== this.lease.id) return undefined;
    const claim = new OwnClaim(
      parseExactAt(row.job, "output_schema") as ResearchJob,
      row.starts,
      worker,
      row.claims,
      this.options.clock.monotonic(),
    );
    this.#held.set(row.request_id, claim);
    return claim;
  }

  /** One that came due since the last look is looked for at once, one that others hold less and less often. */
  async #nextDue(): Promise<number | undefined> {
    const rows = await this.options.database.read(NEXT_DUE, []).catch(() => []);
    const ms: number | null = rows[0]?.ms ?? null;
    return ms === null ? undefined : Math.abs(ms);
  }

  /** What the database does not count as held is lost; what it does, and this process does not know, is given back. */
  async #reconcile(held: ReadonlySet<string>, askedAt: number): Promise<void> {
    const lost = [...this.#held].filter(([id, { since }]) => since < askedAt && !held.has(id));
    if (lost.length > 0) await this.#loseThese(lost);
    if ([...held].every((requestId) => this.#held.has(requestId))) return;
    await this.#inTurn(() =>
      this.options.database.run(GIVE_BACK_OTHERS, [this.lease.id, [...this.#held.keys()]]),
    );
  }

  /** The notification of a stop may be late, and some databases have none. */
  async #loseThese(lost: readonly [string, OwnClaim][]): Promise<void> {
    const rows = await this.options.database.read(STOPPED, [lost.map(([id]) => id)]).catch(() => []);
    const stoppedIds = new Set(rows.map(({ request_id }) => request_id));
    for (const [id, claim] of lost) {
      if (this.#held.get(id) === claim)
        this.#lose(id, stoppedIds.has(id) ? stopped() : new ClaimLost("taken over"));
    }
  }

  #lose(requestId: string, why: ConversationStopped | ClaimLost): void {
    const claim = this.#held.get(requestId);
    if (claim === undefined || claim.ending) return;
    this.#held.delete(requestId);
    claim.abort.abort(why);
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result.catch(() => {});
    return result;
  }
}
