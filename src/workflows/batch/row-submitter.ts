import { RefusedError, UnreachableError } from "../../client/errors.js";
import { LocalError } from "../../store/errors.js";
import { UnresolvedCreateError } from "../errors.js";
import { waitUntil } from "../quota.js";
import { type SubmitPorts, type Submitted, submit } from "../submit.js";
import { SlotTimeoutError } from "./errors.js";
import type { Emit } from "./events.js";
import type { RowError } from "./folder/journal.js";
import type { OutputFolder } from "./folder/output-folder.js";
import type { CreatePacer, LimitLesson } from "./pacing/create-pacer.js";
import { OutageBackoff } from "./pacing/outage-backoff.js";
import type { RowState } from "./plan.js";
import type { BatchProgress } from "./progress.js";

export interface RowSubmitterParts {
  ports: SubmitPorts;
  progress: BatchProgress;
  folder: OutputFolder;
  pacer: CreatePacer;
  emit: Emit;
  /** An error in the form in which it is kept with its row. */
  describe: (error: unknown) => RowError;
  /** Aborted when no more creates are to be sent. One that is under way is not aborted by it. */
  signal: AbortSignal;
  /** Aborted when the caller is interrupted. A create that is under way has a few seconds to learn its id. */
  interruption: AbortSignal;
  /** Milliseconds for which a service that cannot be reached is waited for. */
  patience: number;
  /** Milliseconds that a row may wait for a slot of the hour; 0 for any time. */
  timeout: number;
  /** Called with each row that exists now. */
  onCreated: (state: RowState) => void;
}

/** Sends the creates of waiting rows, one at a time and never faster than the hourly limit allows. */
export class RowSubmitter {
  readonly #parts: RowSubmitterParts;
  readonly #outage: OutageBackoff;
  /** Whether the journal has an intent for the row at hand without an outcome. */
  #hasOpenIntent = false;

  constructor(parts: RowSubmitterParts) {
    this.#parts = parts;
    this.#outage = new OutageBackoff(parts.ports.clock, parts.patience);
  }

  /** Resolves when no row is left to be sent. Rejects with what keeps all further rows from being sent. */
  async run(): Promise<void> {
    const { progress, signal } = this.#parts;
    for (const state of progress.states) {
      if (state.standing !== "waiting") continue;
      do signal.throwIfAborted();
      while (!(await this.#send(state)));
    }
  }

  /** Sends one row; false if it has to be tried again. */
  async #send(state: RowState): Promise<boolean> {
    const { ports, pacer, interruption } = this.#parts;
    await this.#wait(pacer.ownNextAt());
    this.#hasOpenIntent = false;
    let submitted: Submitted;
    try {
      submitted = await submit(ports, state.row.body, {
        limit: pacer.limit,
        onIntent: (localId) => this.#begin(state, localId),
        signal: interruption,
      });
    } catch (error) {
      const refused = pacer.refused(error);
      if (!refused) return this.#failed(state, error);
      this.#dismiss(state);
      this.#learn(refused.lesson);
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
    const { ports, emit, signal, timeout } = this.#parts;
    const waitMs = until - ports.clock.now();
    if (waitMs <= 0) return;
    if (timeout > 0 && waitMs > timeout) throw new SlotTimeoutError(timeout, until);
    emit({ kind: "waiting-for-quota", until });
    await waitUntil(ports, until, { signal });
  }

  #learn(lesson: LimitLesson | undefined): void {
    if (lesson) this.#parts.emit({ kind: "limit-learned", lesson });
  }

  #begin(state: RowState, localId: string | undefined): void {
    const { folder, progress } = this.#parts;
    const { row, stem } = state;
    const { id, key, digest } = row;
    const at = this.#date();
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
    const at = this.#date();
    if (this.#hasOpenIntent)
      this.#parts.folder.record({ kind: "dismissed", row: row.id, ...(error && { error }), at });
    this.#hasOpenIntent = false;
  }

  #created(state: RowState, { data, notSaved }: Submitted): void {
    const { folder, progress, emit, onCreated } = this.#parts;
    const at = this.#date();
    const { request_id } = data;
    const createdAt = typeof data.created_at === "string" ? data.created_at : null;
    const status = typeof data.status === "string" ? data.status : "PENDING";
    progress.update(state, { standing: "running", requestId: request_id, status, createdAt, sentAt: at });
    const line = { kind: "created", row: state.row.id, request_id, created_at: createdAt, at } as const;
    const unrecorded = localErrorOf(() => folder.record(line));
    const lost = unrecorded ?? notSaved;
    if (lost) emit({ kind: "not-saved", state, error: lost });
    emit({ kind: "row", state, final: false });
    onCreated(state);
    // The next intent could not be recorded either.
    if (unrecorded) throw unrecorded;
  }

  /** Reads a create that failed: true if the next row is to be sent. */
  async #failed(state: RowState, error: unknown): Promise<boolean> {
    const { signal, interruption } = this.#parts;
    if (error instanceof UnresolvedCreateError) {
      this.#unknown(state, error);
      return true;
    }
    if (error instanceof RefusedError && (error.kind === "invalid-input" || error.kind === "refused")) {
      this.#refused(state, error);
      return true;
    }
    // As in the history: these provably created nothing; after any other error the row stays open.
    const wasInterrupted = interruption.aborted && error === interruption.reason;
    if (error instanceof RefusedError || error instanceof UnreachableError || wasInterrupted)
      this.#dismiss(state);
    signal.throwIfAborted();
    if (!(error instanceof UnreachableError)) throw error;
    await this.#waitOutOutage(error);
    return false;
  }

  async #waitOutOutage(error: UnreachableError): Promise<void> {
    const { ports, emit, signal } = this.#parts;
    const { waitMs, isFirst } = this.#outage.failed();
    if (waitMs === undefined) throw error;
    if (isFirst) emit({ kind: "trouble", activity: "create", error });
    await ports.clock.sleep(waitMs, signal);
  }

  #answered(): void {
    if (this.#outage.answered()) this.#parts.emit({ kind: "recovered" });
  }

  #unknown(state: RowState, error: UnresolvedCreateError): void {
    const { progress, folder, pacer, emit, describe } = this.#parts;
    pacer.sent();
    progress.update(state, { standing: "unknown", error: describe(error) });
    folder.results.add(state);
    emit({ kind: "create-failed", state, error });
    emit({ kind: "row", state, final: false });
  }

  #refused(state: RowState, error: RefusedError): void {
    const { progress, folder, pacer, emit, describe } = this.#parts;
    const why = describe(error);
    this.#answered();
    pacer.sent();
    this.#dismiss(state, why);
    const endedAt = folder.known.get(state.row.id)?.endedAt;
    progress.update(state, { standing: "refused", error: why, endedAt });
    folder.results.add(state);
    emit({ kind: "create-failed", state, error });
    emit({ kind: "row", state, final: true });
  }

  #date(): string {
    return new Date(this.#parts.ports.clock.now()).toISOString();
  }
}

function localErrorOf(write: () => void): LocalError | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    if (error instanceof LocalError) return error;
    throw error;
  }
}
