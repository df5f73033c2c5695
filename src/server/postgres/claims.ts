import type { Clock } from "../../clock.js";
import { parseExactAt } from "../../json/exact-json.js";
import type { Claim, Outcome } from "../conversations/conversation-store.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversations/conversation-store.js";
import type { Log } from "../monitoring/log.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Role } from "../role.js";
import type { Database } from "./database.js";
import { Notifications } from "./notifications.js";
import { ProcessLease } from "./process-lease.js";
import { CLAIM, END, GIVE_BACK, GIVE_BACK_OTHERS, NEXT_DUE } from "./statements.js";

/** How long a claim waits at most before it looks again: a notification can be lost. */
const LOOK_MS = 500;

export interface ClaimsOptions {
  database: Database;
  clock: Clock;
  role: Role;
  leaseMs: number;
  log: Log;
}

/** A claim as this store knows it: `worker` and `number` together fence it off from every other one. */
class OwnClaim implements Claim {
  readonly abort = new AbortController();
  /** Whether its end is being written: it is no longer for others to take away. */
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
  readonly #lease: ProcessLease;
  #notifications: Notifications | undefined;
  /** Claims and what is done about the held ones come one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #wake = new AbortController();

  constructor(private readonly options: ClaimsOptions) {
    this.#lease = new ProcessLease({
      ...options,
      onRenewed: (held, askedAt) => this.#reconcile(held, askedAt),
      onLost: () => this.#loseAll(),
    });
  }

  async open(): Promise<void> {
    await this.#lease.open();
    if (this.options.role === "api") return;
    this.#notifications = new Notifications(this.options.database, this.options.clock, (notification) => {
      if (notification.kind === "stop") this.#lose(notification.requestId, "stopped");
      if (notification.kind === "connected") this.#lease.renewSoon();
      if (notification.kind !== "stop") this.#lookNow();
    });
  }

  /** Rejects with a ServiceStartError if another process lives that has other settings. */
  agreeOn(settings: string): Promise<void> {
    return this.#lease.agreeOn(settings);
  }

  async close(): Promise<void> {
    await this.#notifications?.close();
    await this.#lease.close();
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
    const { job, number, worker } = own;
    const output = outcome.status === "COMPLETED" ? outcome.output : null;
    const reason = outcome.status === "FAILED" ? JSON.stringify(outcome.reason) : null;
    const values = [job.request_id, worker, number, outcome.status, output, reason];
    own.ending = true;
    try {
      for (let sent = false; ; await this.options.clock.sleep(LOOK_MS)) {
        try {
          const rows = await this.options.database.run(END, values);
          // If the answer to a try was lost, that try may have written it.
          return rows.length > 0 || sent;
        } catch (error) {
          if (error instanceof StoreOutcomeUnknownError) sent = true;
          else if (!(error instanceof StoreUnavailableError)) throw error;
        }
        if (worker !== this.#lease.id) return false;
      }
    } finally {
      this.#held.delete(job.request_id);
    }
  }

  async giveBack(claim: Claim): Promise<void> {
    const { job, number, worker } = this.#own(claim);
    this.#held.delete(job.request_id);
    // What is not given back now comes free with the lease.
    await this.options.database.run(GIVE_BACK, [job.request_id, worker, number]).catch(() => {});
  }

  #own(claim: Claim): OwnClaim {
    if (!(claim instanceof OwnClaim)) throw new Error("the claim is not one of this store");
    return claim;
  }

  async #take(): Promise<OwnClaim | undefined> {
    const worker = this.#lease.id;
    const [row] = await this.options.database.run(CLAIM, [worker]).catch((error) => {
      this.options.log(`no work could be taken: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    });
    if (row === undefined || worker !== this.#lease.id) return undefined;
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

  async #nextDue(): Promise<number | undefined> {
    const rows = await this.options.database.read(NEXT_DUE, []).catch(() => []);
    const ms: number | null = rows[0]?.ms ?? null;
    return ms === null || ms < 0 ? undefined : ms;
  }

  /** What the database does not count as held is lost; what it does, and this process does not know, is given back. */
  async #reconcile(held: ReadonlySet<string>, askedAt: number): Promise<void> {
    for (const [requestId, claim] of this.#held) {
      if (claim.since < askedAt && !held.has(requestId)) this.#lose(requestId, "stopped, or taken over");
    }
    if ([...held].every((requestId) => this.#held.has(requestId))) return;
    await this.#inTurn(() =>
      this.options.database.run(GIVE_BACK_OTHERS, [this.#lease.id, [...this.#held.keys()]]),
    );
  }

  #loseAll(): void {
    for (const requestId of this.#held.keys()) this.#lose(requestId, "the lease was lost");
  }

  #lose(requestId: string, why: string): void {
    const claim = this.#held.get(requestId);
    if (claim === undefined || claim.ending) return;
    this.#held.delete(requestId);
    claim.abort.abort(new Error(why));
  }

  #lookNow(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result.catch(() => {});
    return result;
  }
}
