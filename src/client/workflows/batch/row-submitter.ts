import { localErrorOf } from "../../../core/files/local-error.js";
import type { CreateBody } from "../../../core/protocol/conversation.js";
import { exactDuration, isoDate } from "../../../core/text/duration.js";
import { RefusedError, ResearchError, UnreachableError } from "../../calls/errors.js";
import { QuotaExceededError, UnresolvedCreateError } from "../errors.js";
import { accountOf, mayGoOn } from "../first-account.js";
import { waitUntil } from "../quota.js";
import { type Submitted, submit } from "../submit.js";
import { type BatchContext, dateOf } from "./context.js";
import type { BatchAccount } from "./create-pacer.js";
import type { RowError } from "./journal.js";
import type { RowState } from "./plan.js";

/** Sends the creates of one account's waiting rows, one at a time and never faster than the hourly limit allows. */
export class RowSubmitter {
  /** Aborted when no more creates are to be sent. */
  readonly #signal: AbortSignal;
  /** Whether the journal has an intent for the row at hand without an outcome. */
  #hasOpenIntent = false;
  /** The accounts that have nothing of the row at hand, for a reason of this row or moment. */
  readonly #passed = new Set<BatchAccount>();
  /** What the account said that the row at hand was sent to last. */
  #said: unknown;

  /** `first`: the rows of this first account are sent. `add` takes a row that exists. */
  constructor(
    private readonly context: BatchContext,
    private readonly first: BatchAccount,
    private readonly add: (state: RowState) => void,
  ) {
    this.#signal = AbortSignal.any([context.end, context.noMoreCreates.signal]);
  }

  /** Resolves when no row is left to be sent. Rejects with what keeps all further rows from being sent. */
  async run(): Promise<void> {
    for (const state of this.context.states) {
      if (state.standing !== "waiting" || state.accounts[0] !== this.first) continue;
      this.#passed.clear();
      this.#said = undefined;
      do this.#signal.throwIfAborted();
      while (!(await this.#send(state)));
    }
  }

  /** Sends one row to the first of its accounts that takes it; false if it has to be tried again. */
  async #send(state: RowState): Promise<boolean> {
    const { signal, emit, progress, describe, failsAtLimits } = this.context;
    const account = this.#next(state);
    // It stays for the next command.
    if (!account) {
      if (this.#said) progress.update(state, { error: describe(this.#said) });
      return true;
    }
    const { ports, pacer } = account;
    const index = state.accounts.indexOf(account);
    let submitted: Submitted;
    let hasId = false;
    this.#hasOpenIntent = false;
    try {
      if (!failsAtLimits) await this.#wait(account);
      if (pacer.hasEnded) return false;
      if (index > 0) emit({ kind: "next-account", state, ports, error: this.#said });
      submitted = await submit(ports, bodyAt(state, index), {
        limit: pacer.limit,
        onIntent: (localId) => this.#begin(state, account, localId),
        onId: () => {
          hasId = true;
        },
        ...(index > 0 && { askedOf: accountOf(this.first.ports) }),
        // It has a few seconds to learn its id.
        signal,
      });
    } catch (error) {
      this.#said = error;
      const until = failsAtLimits ? undefined : pacer.refused(error);
      if (until === undefined) return this.#failed(state, account, error, hasId);
      this.#dismiss(state);
      if (hasId || (error instanceof QuotaExceededError && error.day)) pacer.heldUntil = until;
      return false;
    }
    this.#answered(account);
    pacer.sent();
    this.#created(state, submitted);
    return true;
  }

  /** The first account of a row that may be sent to now, else the one that is free first; undefined if none takes creates. */
  #next(state: RowState): BatchAccount | undefined {
    const now = this.context.ports.clock.now();
    const held = state.accounts.findIndex(({ pacer }) => pacer.heldUntil > now);
    const reached = held < 0 ? state.accounts : state.accounts.slice(0, held + 1);
    const free = reached.filter((one) => !one.pacer.hasEnded && !this.#passed.has(one));
    const times = free.map(({ pacer }) => pacer.nextAt());
    return free[times.indexOf(times.find((at) => at <= now) ?? Math.min(...times))];
  }

  /** Waits until an account may be sent a create. */
  async #wait({ ports, pacer }: BatchAccount): Promise<void> {
    const { emit, timeout = 0 } = this.context;
    const until = pacer.nextAt();
    const waitMs = until - ports.clock.now();
    if (waitMs <= 0) return;
    if (timeout > 0 && waitMs > timeout)
      throw new ResearchError(
        "TIMEOUT",
        `a limit of creates is reached, and the next one is allowed at ${isoDate(until)}, after the ${exactDuration(timeout)} of --timeout`,
      );
    emit({ kind: "waiting-for-quota", until, ports });
    await waitUntil(ports, until, { signal: this.#signal });
  }

  #begin(state: RowState, at: BatchAccount, localId: string | undefined): void {
    const { folder, progress } = this.context;
    const { origin, profile } = at.ports;
    const { id, key, digest } = state.row;
    const account = { origin, profile };
    const intent = { row: id, key, digest, stem: state.stem, ...account, at: dateOf(this.context) };
    this.#hasOpenIntent = true;
    try {
      folder.record({ kind: "intent", ...intent, local_id: localId ?? null }, { sync: true });
    } catch (error) {
      // The line may stand there all the same, as if the row had been sent.
      localErrorOf(() => this.#dismiss(state));
      throw error;
    }
    progress.update(state, { localId, ...account, account: at, sentAt: intent.at });
  }

  /** Records that nothing was created for the row: with `error` it was refused for good, else it is sent again. Returns the time, ISO 8601. */
  #dismiss({ row }: RowState, error?: RowError): string {
    const at = dateOf(this.context);
    if (this.#hasOpenIntent) this.context.folder.record({ kind: "dismissed", row: row.id, error, at });
    this.#hasOpenIntent = false;
    return at;
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
    this.add(state);
    // The next intent could not be recorded either.
    if (unrecorded) throw unrecorded;
  }

  /** Reads a create that failed: true if the next row is to be sent. */
  async #failed(state: RowState, account: BatchAccount, error: unknown, hasId: boolean): Promise<boolean> {
    const { emit, signal, describe, patience } = this.context;
    const { ports, pacer } = account;
    if (error instanceof UnresolvedCreateError) {
      pacer.sent();
      this.#over(state, error, { standing: "unknown", error: describe(error) });
      return true;
    }
    const body = bodyAt(state, state.accounts.indexOf(account));
    const goesOn = !hasId && mayGoOn(error, { ports, body });
    const isRefused =
      error instanceof RefusedError && (error.kind === "invalid-input" || error.kind === "refused");
    if (isRefused && !(goesOn && this.#pass(state, account))) {
      const why = describe(error);
      this.#answered(account);
      pacer.sent();
      const endedAt = this.#dismiss(state, why);
      this.#over(state, error, { standing: "refused", error: why, endedAt });
      return true;
    }
    // As in the history: these provably created nothing; after any other error the row stays open.
    const wasInterrupted = signal.aborted && error === signal.reason;
    if (error instanceof RefusedError || error instanceof UnreachableError || wasInterrupted)
      this.#dismiss(state);
    this.#signal.throwIfAborted();
    if (isRefused || (error instanceof UnreachableError && goesOn && this.#pass(state, account)))
      return false;
    if (!(error instanceof UnreachableError)) return this.#ended(state, account, error, goesOn);
    const { waitMs, isFirst } = pacer.outage.failed(patience);
    if (waitMs === undefined) return this.#ended(state, account, error, goesOn);
    if (isFirst) emit({ kind: "trouble", activity: "create", error });
    await ports.clock.sleep(waitMs, this.#signal);
    this.#passed.clear();
    return false;
  }

  /** Passes over an account for the row at hand; false if it is the last one that is left. */
  #pass(state: RowState, account: BatchAccount): boolean {
    this.#passed.add(account);
    return this.#next(state) !== undefined;
  }

  /** Sends no more to an account. Ends all creates if nothing can be recorded. Not an error if its rows go on elsewhere. */
  #ended(state: RowState, account: BatchAccount, error: unknown, goesOn: boolean): boolean {
    if (!(error instanceof ResearchError || error instanceof QuotaExceededError)) throw error;
    const { accounts, emit } = this.context;
    const ports = accounts.length > 1 ? account.ports : undefined;
    const isNews = !account.pacer.hasEnded;
    account.pacer.hasEnded = true;
    if (!goesOn) account.pacer.heldUntil = Number.POSITIVE_INFINITY;
    this.#passed.clear();
    if (isNews && !this.#next(state)) emit({ kind: "creates-stopped", reason: { error }, ports });
    return false;
  }

  #answered({ pacer }: BatchAccount): void {
    if (pacer.outage.answered()) this.context.emit({ kind: "recovered" });
  }

  /** Notes what became of a create that failed; its row is sent no more. */
  #over(state: RowState, error: unknown, change: Partial<RowState> & Pick<RowState, "standing">): void {
    const { progress, folder, emit } = this.context;
    progress.update(state, change);
    folder.results.add(state);
    emit({ kind: "row-failed", state, error });
    emit({ kind: "row", state, final: change.standing === "refused" });
  }
}

/** What a row asks at the account of that place among its own. */
function bodyAt({ row }: RowState, index: number): CreateBody {
  return row.otherBodies?.[index - 1] ?? row.body;
}
