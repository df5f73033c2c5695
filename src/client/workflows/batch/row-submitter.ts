import { catchLocalError } from "../../../core/files/local-error.js";
import { formatExactDuration, formatIsoDate } from "../../../core/text/time-format.js";
import { ResearchError, type UnreachableError } from "../../calls/errors.js";
import { readFinalState } from "../find-and-query-requests.js";
import { type SubmittedRequest, submitRequest } from "../submit-request.js";
import { waitUntilWallTime } from "../wait-for-quota.js";
import { type BatchContext, formatCurrentTime, giveUpRow } from "./batch-context.js";
import type { RowError } from "./batch-journal.js";
import { classifyCreateFailure, FAILED_CREATES } from "./create-failure-policy.js";
import type { BatchLane } from "./create-pacer.js";
import type { RowState } from "./plan-rows.js";

/** How often a limit may refuse a row, while other rows are accepted, before this command gives up the row. */
const MOST_REFUSALS = 5;

/** Sends the create calls of one account's waiting rows, one at a time and never faster than the hourly limit allows. */
export class RowSubmitter {
  /** Aborts when no more create calls may be sent. */
  readonly #signal: AbortSignal;
  /** The rows in the order in which they are sent. A row that was refused because of a limit is added again at the end. */
  readonly #rows: RowState[];
  /** How often a limit refused each row, and the number of accepted create calls before the first time. */
  readonly #refusals = new Map<RowState, { count: number; takenBefore: number }>();
  /** Number of create calls that the account has accepted. */
  #taken = 0;
  /** Whether the journal has an intent without an outcome for the current row. */
  #hasOpenIntent = false;
  /** Whether no more create calls are sent to the account. */
  #hasEnded = false;

  /** `add` is called with each row whose request exists. */
  constructor(
    private readonly context: BatchContext,
    private readonly lane: BatchLane,
    private readonly add: (state: RowState) => void,
  ) {
    this.#signal = AbortSignal.any([context.end, context.noMoreCreates.signal]);
    this.#rows = context.states.filter((state) => state.standing === "waiting" && state.lane === lane);
  }

  /** Resolves when no row is left to be sent. Rejects with the error that prevents all further rows from being sent. */
  async run(): Promise<void> {
    for (const state of this.#rows) {
      do this.#signal.throwIfAborted();
      while (!(await this.#send(state)));
      if (this.#hasEnded) return;
    }
  }

  /** Sends one row. Returns false if the row has to be sent again at once. */
  async #send(state: RowState): Promise<boolean> {
    const { signal, failsAtLimits } = this.context;
    const { account, pacer } = this.lane;
    let submitted: SubmittedRequest;
    this.#hasOpenIntent = false;
    try {
      if (!failsAtLimits) await this.#wait();
      submitted = await submitRequest(account, state.row.body, {
        limit: pacer.limit,
        onIntent: (localId) => this.#begin(state, localId),
        // An interrupted create call still waits a few seconds for its id.
        signal,
      });
    } catch (error) {
      return this.#handleFailure(state, error);
    }
    this.#noteAnswered();
    pacer.noteSent();
    this.#taken++;
    this.#handleCreated(state, submitted);
    return true;
  }

  /** Waits until a create call may be sent to the account. */
  async #wait(): Promise<void> {
    const { account, pacer } = this.lane;
    const { emit, timeout = 0 } = this.context;
    const until = pacer.findNextAt();
    const waitMs = until - account.clock.now();
    if (waitMs <= 0) return;
    if (timeout > 0 && waitMs > timeout)
      throw new ResearchError(
        "TIMEOUT",
        `a limit of creates is reached, and the next one is allowed at ${formatIsoDate(until)}, after the ${formatExactDuration(timeout)} of --timeout`,
      );
    emit({ kind: "waiting-for-quota", until, account });
    await waitUntilWallTime(account, until, { signal: this.#signal });
  }

  #begin(state: RowState, localId: string | undefined): void {
    const { folder, progress } = this.context;
    const { origin, profile } = this.lane.account;
    const { id, key, digest } = state.row;
    const account = { origin, profile };
    const intent = {
      row: id,
      key,
      digest,
      stem: state.stem,
      ...account,
      at: formatCurrentTime(this.context),
    };
    this.#hasOpenIntent = true;
    try {
      folder.record({ kind: "intent", ...intent, local_id: localId ?? null }, { sync: true });
    } catch (error) {
      // The journal may have the line nevertheless, as if the row had been sent.
      catchLocalError(() => this.#dismiss(state));
      throw error;
    }
    progress.update(state, { localId, ...account, sentAt: intent.at });
  }

  /** Records that nothing was created for the row. With `error` the row is refused for good; without it, it is sent again. Returns the time. */
  #dismiss({ row }: RowState, error?: RowError): string {
    const at = formatCurrentTime(this.context);
    if (this.#hasOpenIntent) this.context.folder.record({ kind: "dismissed", row: row.id, error, at });
    this.#hasOpenIntent = false;
    return at;
  }

  #handleCreated(state: RowState, { data, notSaved }: SubmittedRequest): void {
    const { folder, progress, emit } = this.context;
    const at = formatCurrentTime(this.context);
    const { request_id } = data;
    const createdAt = typeof data.created_at === "string" ? data.created_at : null;
    const status = typeof data.status === "string" ? data.status : "PENDING";
    progress.update(state, {
      ...{
        standing: "running",
        requestId: request_id,
        status,
        createdAt,
        sentAt: at,
        end: readFinalState(data),
      },
    });
    const line = { kind: "created", row: state.row.id, request_id, created_at: createdAt, at } as const;
    const unrecorded = catchLocalError(() => folder.record(line));
    const lost = unrecorded ?? notSaved;
    if (lost) emit({ kind: "not-saved", state, error: lost });
    if (!state.end) emit({ kind: "row", state, final: false });
    this.add(state);
    // The journal could not record the next intent, either.
    if (unrecorded) throw unrecorded;
  }

  /** Handles a failed create call as `FAILED_CREATES` says. Returns false if the row has to be sent again at once. */
  async #handleFailure(state: RowState, error: unknown): Promise<boolean> {
    const { signal, describe, failsAtLimits } = this.context;
    const { pacer } = this.lane;
    const until = failsAtLimits ? undefined : pacer.noteRefused(error);
    const wasInterrupted = signal.aborted && error === signal.reason;
    const { row, account, isCounted, isDismissed } =
      FAILED_CREATES[classifyCreateFailure(error, until !== undefined)];
    if (isCounted) pacer.noteSent();
    if (row === "refused") this.#noteAnswered();
    const why = row === "refused" ? describe(error) : undefined;
    const endedAt = isDismissed || wasInterrupted ? this.#dismiss(state, why) : undefined;
    if (row === "unknown" || row === "refused") {
      this.#endRow(state, error, { standing: row, error: why ?? describe(error), endedAt });
      return true;
    }
    this.#signal.throwIfAborted();
    if (account === "all-end") throw error;
    if (account === "ends") return this.#end(state, error);
    if (account === "backs-off") return this.#handleBackoff(state, error as UnreachableError);
    if (row === "first") return false;
    this.#moveBehind(state, error);
    return true;
  }

  /** Sends a row again after all others, or gives it up for this command if it was refused too often. */
  #moveBehind(state: RowState, error: unknown): void {
    const { count, takenBefore } = this.#refusals.get(state) ?? { count: 0, takenBefore: this.#taken };
    this.#refusals.set(state, { count: count + 1, takenBefore });
    if (count + 1 < MOST_REFUSALS || this.#taken === takenBefore) this.#rows.push(state);
    else giveUpRow(this.context, state, error);
  }

  /** Waits before the row is sent again, or stops submitting to the account if the outage has lasted too long. */
  async #handleBackoff(state: RowState, error: UnreachableError): Promise<boolean> {
    const { emit, patience } = this.context;
    const { account, pacer } = this.lane;
    const { waitMs, isFirst } = pacer.outage.noteFailed(patience);
    if (waitMs === undefined) return this.#end(state, error);
    if (isFirst) emit({ kind: "trouble", activity: "create", error });
    await account.clock.sleep(waitMs, this.#signal);
    return false;
  }

  /** Stops submitting to this account because of `error`. The account's remaining rows stay unsent until the batch is run again. */
  #end(state: RowState, error: unknown): true {
    const { lanes, emit, progress, describe } = this.context;
    this.#hasEnded = true;
    progress.update(state, { error: describe(error) });
    const account = lanes.length > 1 ? this.lane.account : undefined;
    emit({ kind: "creates-stopped", reason: { error }, account });
    return true;
  }

  #noteAnswered(): void {
    if (this.lane.pacer.outage.noteAnswered()) this.context.emit({ kind: "recovered" });
  }

  /** Records the outcome of a failed create call whose row is not sent again. */
  #endRow(state: RowState, error: unknown, change: Partial<RowState> & Pick<RowState, "standing">): void {
    const { progress, folder, emit } = this.context;
    progress.update(state, change);
    folder.results.add(state);
    emit({ kind: "row-failed", state, error });
    emit({ kind: "row", state, final: change.standing === "refused" });
  }
}
