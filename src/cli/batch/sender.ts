import { RefusedError, UnreachableError } from "../../client/errors.js";
import { UnresolvedCreateError } from "../../workflows/errors.js";
import { waitUntil } from "../../workflows/quota.js";
import { type Submitted, submit } from "../../workflows/submit.js";
import type { Context } from "../context.js";
import { Interrupted } from "../errors.js";
import { failureOf } from "../failure.js";
import { isoDate } from "../terminal/durations.js";
import type { Board } from "./board.js";
import type { BatchFolder } from "./folder.js";
import type { RowError } from "./journal.js";
import { Outage } from "./outage.js";
import type { Pacer } from "./pacer.js";
import type { RowState } from "./plan.js";
import type { Report } from "./report.js";
import { resultLine, rowError } from "./results.js";
import { nameOf } from "./row.js";

export interface SenderParts {
  ctx: Context;
  board: Board;
  folder: BatchFolder;
  pacer: Pacer;
  report: Report;
  /** Aborted when nothing more is to be sent. */
  signal: AbortSignal;
  /** Milliseconds for which a service that cannot be reached is borne. */
  patience: number;
  /** Told of each row that exists now. */
  onSent: (state: RowState) => void;
}

/** Sends what waits, one at a time and never faster than the limit allows. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #outage: Outage;
  /** Whether the journal has an intent for the row at hand, and no word of what became of it. */
  #isOpen = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#outage = new Outage(parts.ctx.host.clock, parts.report, parts.patience);
  }

  /** Returns when nothing is left to be sent. Throws what keeps every further row from being sent. */
  async run(): Promise<void> {
    const { board, signal } = this.#parts;
    for (const state of board.states) {
      if (state.standing !== "waiting") continue;
      do signal.throwIfAborted();
      while (!(await this.#send(state)));
    }
  }

  /** Sends one row; false where it has to be tried again. */
  async #send(state: RowState): Promise<boolean> {
    const { ctx, pacer, report } = this.#parts;
    await this.#untilOwnTurn();
    this.#isOpen = false;
    let submitted: Submitted;
    try {
      submitted = await submit(ctx.ports, state.row.body, {
        signal: ctx.signal,
        limit: pacer.limit,
        onIntent: (localId) => this.#begin(state, localId),
      });
    } catch (error) {
      const away = pacer.turnedAway(error);
      if (away) {
        this.#dismiss(state);
        await this.#pause(away);
        return false;
      }
      return this.#failed(state, error);
    }
    await this.#outage.over();
    pacer.sent();
    await this.#created(state, submitted);
    if (submitted.notSaved) await report.notice("NOT_SAVED", submitted.notSaved.message);
    return true;
  }

  /** The part of the limit that falls to this shard, and what a 429 asked for. */
  async #untilOwnTurn(): Promise<void> {
    const { ctx, pacer, report, signal } = this.#parts;
    const at = pacer.ownNextAt();
    if (at <= ctx.host.clock.now()) return;
    await report.pausing("the hourly limit is reached", at);
    await waitUntil(ctx.ports, at, { signal });
  }

  async #pause({ until, lesson }: { until: number; lesson: string | undefined }): Promise<void> {
    const { ctx, report, signal } = this.#parts;
    if (lesson)
      await report.notice("LIMIT_LEARNED", `the service says that the hourly limit is reached; ${lesson}`);
    await report.pausing("the hourly limit is reached", until);
    await waitUntil(ctx.ports, until, { signal });
  }

  #begin(state: RowState, localId: string | undefined): void {
    const { folder, board } = this.#parts;
    const { row, stem } = state;
    const { id, key, digest } = row;
    const at = this.#date();
    const intent = { kind: "intent", row: id, ...(key !== undefined && { key }), digest, stem } as const;
    folder.record({ ...intent, local_id: localId ?? null, at }, { sync: true });
    board.update(state, { localId, sentAt: at });
    this.#isOpen = true;
  }

  /** Nothing was created for the row: turned down for good with `error`, else it may be sent again. */
  #dismiss({ row }: RowState, error?: RowError): void {
    if (this.#isOpen)
      this.#parts.folder.record({
        kind: "dismissed",
        row: row.id,
        ...(error && { error }),
        at: this.#date(),
      });
    this.#isOpen = false;
  }

  async #created(state: RowState, { data }: Submitted): Promise<void> {
    const { folder, board, report, onSent } = this.#parts;
    const at = this.#date();
    const createdAt = typeof data.created_at === "string" ? data.created_at : null;
    const created = {
      kind: "created",
      row: state.row.id,
      request_id: data.request_id,
      created_at: createdAt,
    } as const;
    folder.record({ ...created, at });
    const status = typeof data.status === "string" ? data.status : "PENDING";
    board.update(state, { standing: "running", requestId: data.request_id, status, createdAt, sentAt: at });
    await report.changed(state, false);
    onSent(state);
  }

  /** What a create that did not go well means for its row; true where the next row has its turn. */
  async #failed(state: RowState, error: unknown): Promise<boolean> {
    if (error instanceof UnresolvedCreateError) {
      await this.#unknown(state, error);
      return true;
    }
    if (error instanceof RefusedError && (error.kind === "invalid-input" || error.kind === "refused")) {
      await this.#refused(state, error);
      return true;
    }
    // As in the history: these provably created nothing, anything unforeseen leaves the row open.
    const isFree = [RefusedError, UnreachableError, Interrupted].some((kind) => error instanceof kind);
    if (isFree) this.#dismiss(state);
    this.#parts.signal.throwIfAborted();
    if (!(error instanceof UnreachableError)) throw error;
    await this.#outage.bear(error, this.#parts.signal);
    return false;
  }

  async #unknown(state: RowState, error: UnresolvedCreateError): Promise<void> {
    const { board, folder, pacer, report } = this.#parts;
    const failure = failureOf(error);
    pacer.sent();
    board.update(state, { standing: "unknown", error: rowError(failure) });
    folder.addResult(resultLine(state));
    await report.error(error, { message: `${nameOf(state.row)}: ${failure.message}` });
    await report.changed(state, false);
  }

  async #refused(state: RowState, error: RefusedError): Promise<void> {
    const { board, folder, pacer, report } = this.#parts;
    const refusal = rowError(failureOf(error));
    await this.#outage.over();
    pacer.sent();
    this.#dismiss(state, refusal);
    board.update(state, {
      standing: "refused",
      error: refusal,
      endedAt: folder.known.get(state.row.id)?.endedAt,
    });
    folder.addResult(resultLine(state));
    await report.error(error, { message: `${nameOf(state.row)}: ${refusal.message}` });
    await report.changed(state, true);
  }

  #date(): string {
    return isoDate(this.#parts.ctx.host.clock.now());
  }
}
