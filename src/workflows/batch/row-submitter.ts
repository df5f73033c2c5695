import { RefusedError, UnreachableError } from "../../client/errors.js";
import type { Clock } from "../../clock.js";
import { localErrorOf } from "../../store/files.js";
import { UnresolvedCreateError } from "../errors.js";
import { waitUntil } from "../quota.js";
import { type Submitted, submit } from "../submit.js";
import { type BatchContext, dateOf, SlotTimeoutError } from "./context.js";
import type { RowError } from "./journal.js";
import type { RowState } from "./plan.js";
import type { RowFollower } from "./row-follower.js";

/** Sends the creates of waiting rows, one at a time and never faster than the hourly limit allows. */
export class RowSubmitter {
  /** Aborted when no more creates are to be sent. */
  readonly #signal: AbortSignal;
  readonly #outage: OutageBackoff;
  /** Whether the journal has an intent for the row at hand without an outcome. */
  #hasOpenIntent = false;

  constructor(
    private readonly context: BatchContext,
    private readonly follower: RowFollower,
  ) {
    this.#signal = AbortSignal.any([context.end, context.noMoreCreates.signal]);
    this.#outage = new OutageBackoff(context.ports.clock, context.patience);
  }

  /** Resolves when no row is left to be sent. Rejects with what keeps all further rows from being sent. */
  async run(): Promise<void> {
    for (const state of this.context.states) {
      if (state.standing !== "waiting") continue;
      do this.#signal.throwIfAborted();
      while (!(await this.#send(state)));
    }
  }

  /** Sends one row; false if it has to be tried again. */
  async #send(state: RowState): Promise<boolean> {
    const { ports, pacer, emit, signal } = this.context;
    await this.#wait(pacer.ownNextAt());
    this.#hasOpenIntent = false;
    let submitted: Submitted;
    try {
      submitted = await submit(ports, state.row.body, {
        limit: pacer.limit,
        onIntent: (localId) => this.#begin(state, localId),
        // It has a few seconds to learn its id.
        signal,
      });
    } catch (error) {
      const refused = pacer.refused(error);
      if (!refused) return this.#failed(state, error);
      this.#dismiss(state);
      if (refused.lesson) emit({ kind: "limit-learned", lesson: refused.lesson });
      await this.#wait(refused.until);
      return false;
    }
    this.#answered();
    pacer.sent();
    this.#created(state, submitted);
    return true;
  }

  /** Waits for a slot of the hour, at `until` (epoch ms). */
  async #wait(until: number): Promise<void> {
    const { ports, emit, timeout = 0 } = this.context;
    const waitMs = until - ports.clock.now();
    if (waitMs <= 0) return;
    if (timeout > 0 && waitMs > timeout) throw new SlotTimeoutError(timeout, until);
    emit({ kind: "waiting-for-quota", until });
    await waitUntil(ports, until, { signal: this.#signal });
  }

  #begin(state: RowState, localId: string | undefined): void {
    const { folder, progress } = this.context;
    const { row, stem } = state;
    const { id, key, digest } = row;
    const at = dateOf(this.context);
    const intent = { kind: "intent", row: id, ...(key !== undefined && { key }), digest, stem } as const;
    this.#hasOpenIntent = true;
    try {
      folder.record({ ...intent, local_id: localId ?? null, at }, { sync: true });
    } catch (error) {
      // The line may stand there all the same, as if the row had been sent.
      localErrorOf(() => this.#dismiss(state));
      throw error;
    }
    progress.update(state, { localId, sentAt: at });
  }

  /** Nothing was created for the row: refused for good with `error`, without it to be sent again. */
  #dismiss({ row }: RowState, error?: RowError): void {
    const at = dateOf(this.context);
    if (this.#hasOpenIntent)
      this.context.folder.record({ kind: "dismissed", row: row.id, ...(error && { error }), at });
    this.#hasOpenIntent = false;
  }

  #created(state: RowState, { data, notSaved }: Submitted): void {
    const { folder, progress, emit } = this.context;
    const at = dateOf(this.context);
    const { request_id } = data;
    const createdAt = typeof data.created_at === "string" ? data.created_at : null;
    const status = typeof data.status === "string" ? data.status : "PENDING";
    progress.update(state, { standing: "running", requestId: request_id, status, createdAt, sentAt: at });
    const line = { kind: "created", row: state.row.id, request_id, created_at: createdAt, at } as const;
    const unrecorded = localErrorOf(() => folder.record(line));
    const lost = unrecorded ?? notSaved;
    if (lost) emit({ kind: "not-saved", state, error: lost });
    emit({ kind: "row", state, final: false });
    this.follower.add(state);
    // The next intent could not be recorded either.
    if (unrecorded) throw unrecorded;
  }

  /** Reads a create that failed: true if the next row is to be sent. */
  async #failed(state: RowState, error: unknown): Promise<boolean> {
    const { ports, emit, signal, folder, pacer, describe } = this.context;
    if (error instanceof UnresolvedCreateError) {
      pacer.sent();
      this.#over(state, error, { standing: "unknown", error: describe(error) });
      return true;
    }
    if (error instanceof RefusedError && (error.kind === "invalid-input" || error.kind === "refused")) {
      const why = describe(error);
      this.#answered();
      pacer.sent();
      this.#dismiss(state, why);
      const endedAt = folder.known.get(state.row.id)?.endedAt;
      this.#over(state, error, { standing: "refused", error: why, endedAt });
      return true;
    }
    // As in the history: these provably created nothing; after any other error the row stays open.
    const wasInterrupted = signal.aborted && error === signal.reason;
    if (error instanceof RefusedError || error instanceof UnreachableError || wasInterrupted)
      this.#dismiss(state);
    this.#signal.throwIfAborted();
    if (!(error instanceof UnreachableError)) throw error;
    const { waitMs, isFirst } = this.#outage.failed();
    if (waitMs === undefined) throw error;
    if (isFirst) emit({ kind: "trouble", activity: "create", error });
    await ports.clock.sleep(waitMs, this.#signal);
    return false;
  }

  #answered(): void {
    if (this.#outage.answered()) this.context.emit({ kind: "recovered" });
  }

  /** Notes what became of a create that failed; its row is sent no more. */
  #over(state: RowState, error: unknown, change: Partial<RowState> & Pick<RowState, "standing">): void {
    const { progress, folder, emit } = this.context;
    progress.update(state, change);
    folder.results.add(state);
    emit({ kind: "create-failed", state, error });
    emit({ kind: "row", state, final: change.standing === "refused" });
  }
}

/** The first wait after a create that could not be sent, and the longest, in milliseconds. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 30_000;

/** Backoff for creates that never left: an outage is waited out for `patience` ms if the service has answered before. */
export class OutageBackoff {
  /** Since when (monotonic ms) nothing could be sent. */
  #since: number | undefined;
  #hasAnswered = false;

  constructor(
    private readonly clock: Clock,
    private readonly patience: number,
  ) {}

  /** Notes that the service has answered. Returns whether that ends an outage. */
  answered(): boolean {
    this.#hasAnswered = true;
    const wasOut = this.#since !== undefined;
    this.#since = undefined;
    return wasOut;
  }

  /** The wait in milliseconds before the next try, undefined if there is none; `isFirst`: this failure begins the outage. */
  failed(): { waitMs: number | undefined; isFirst: boolean } {
    const now = this.clock.monotonic();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= this.patience) return { waitMs: undefined, isFirst };
    return { waitMs: Math.min(Math.max(lasting, FIRST_WAIT_MS), LONGEST_WAIT_MS), isFirst };
  }
}
