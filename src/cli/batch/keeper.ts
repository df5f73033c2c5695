import { join } from "node:path";
import { NoOutputError, RefusedError, UnreachableError } from "../../client/errors.js";
import { LocalError } from "../../store/errors.js";
import { fetchResult, type Result } from "../../workflows/results.js";
import type { Context } from "../context.js";
import { CliError } from "../errors.js";
import { failureOf } from "../failure.js";
import type { OnDone } from "../requests/on-done.js";
import { checkFit } from "../results/check-fit.js";
import { resultText } from "../results/result-text.js";
import { isoDate } from "../terminal/durations.js";
import type { Board } from "./board.js";
import type { BatchFolder } from "./folder.js";
import type { RowState } from "./plan.js";
import { AsyncQueue } from "./queue.js";
import type { Report } from "./report.js";
import { resultLine, rowError } from "./results.js";
import { nameOf } from "./row.js";

/** Results fetched at a time: each may be 64 MiB. */
const FETCHERS = 4;
/** The pause before a result that could not be fetched is asked for again, in milliseconds. */
const PAUSE_MS = 10_000;

export interface KeeperParts {
  ctx: Context;
  board: Board;
  folder: BatchFolder;
  report: Report;
  /** Aborted when the batch ends early. */
  signal: AbortSignal;
  /** Milliseconds for which a service that cannot be reached is borne. */
  patience: number;
  done: OnDone | undefined;
  /** Told of what would keep every further result from being kept. */
  onTrouble: (error: LocalError) => void;
}

/** Fetches and keeps what has ended, a few results at a time. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #ended = new AsyncQueue<RowState>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** Takes a row in a final state. */
  add(state: RowState): void {
    this.#ended.push(state);
  }

  /** No more rows will come. */
  close(): void {
    this.#ended.close();
  }

  /** Returns when everything that came is kept, or could not be. */
  async run(): Promise<void> {
    const fetchers = Array.from({ length: FETCHERS }, async () => {
      for await (const state of this.#ended) await this.#keep(state);
    });
    await Promise.all(fetchers);
  }

  /** A row goes on without this command, which the next one takes up again. */
  async unfinished(state: RowState, error: unknown): Promise<void> {
    const { board, report } = this.#parts;
    const failure = failureOf(error);
    board.update(state, { error: rowError(failure) });
    const message = `${nameOf(state.row)}: ${failure.message}`;
    await report.error(error, { message, request_id: state.requestId });
    await report.changed(state, false);
  }

  /** Has the command of `--on-done` run for a row, and keeps that it was. */
  tell(state: RowState): void {
    const { folder, done } = this.#parts;
    const { requestId = "", status, file, row } = state;
    const path = file && join(folder.path, file);
    done?.run({ requestId, status: status ?? "", file: path }, () => {
      folder.record({ kind: "told", row: row.id, at: this.#date() });
    });
  }

  async #keep(state: RowState): Promise<void> {
    const { status } = state;
    if (status === "COMPLETED") return this.#result(state);
    await this.#end(state, { error: status === "FAILED" ? await this.#reason(state) : undefined });
  }

  async #result(state: RowState): Promise<void> {
    const { ctx, folder, signal, onTrouble } = this.#parts;
    const { stem, row, requestId = "" } = state;
    try {
      const result = await this.#output(state);
      const file = `${stem}.${typeof result.value === "string" ? "md" : "json"}`;
      folder.write(file, resultText(result));
      await checkFit(ctx, result, { requestId, schema: row.body.output_schema }, { name: nameOf(row) });
      await this.#end(state, { file });
    } catch (error) {
      signal.throwIfAborted();
      const foreseen = [UnreachableError, RefusedError, NoOutputError, LocalError];
      if (!foreseen.some((kind) => error instanceof kind)) throw error;
      await this.unfinished(state, error);
      if (error instanceof LocalError) onTrouble(error);
    }
  }

  /** An outage that a watch would bear is borne here too. */
  async #output({ requestId = "", row }: RowState): Promise<Result> {
    const { ctx, signal, patience, report } = this.#parts;
    const { clock } = ctx.host;
    const end = clock.monotonic() + patience;
    for (let tries = 0; ; tries++) {
      try {
        return await fetchResult(ctx.ports, requestId, { signal });
      } catch (error) {
        signal.throwIfAborted();
        const wait = pauseAfter(error);
        if (wait === undefined || clock.monotonic() >= end) throw error;
        const message = `${nameOf(row)}: ${failureOf(error).message}; the result is asked for again`;
        if (tries === 0) await report.notice("TROUBLE", message);
        await clock.sleep(wait, signal);
      }
    }
  }

  /** Why a row FAILED, as far as the service says so. */
  async #reason({ requestId = "" }: RowState): Promise<unknown> {
    const { ctx, signal } = this.#parts;
    try {
      await ctx.client.output(requestId, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoOutputError && error.status === "FAILED") return error;
    }
    return new CliError("RESEARCH_FAILED", `${requestId} ended FAILED, so it has no output`);
  }

  /** The journal knows first: what a crash keeps from the other files is made up for from it. */
  async #end(state: RowState, { file, error }: { file?: string; error?: unknown }): Promise<void> {
    const { board, folder, report, done } = this.#parts;
    const status = state.status ?? "";
    const at = this.#date();
    const owed = done !== undefined;
    const why = error === undefined ? undefined : rowError(failureOf(error));
    const details = { ...(file !== undefined && { file }), ...(why && { error: why }) };
    folder.record({ kind: "ended", row: state.row.id, status, ...details, owed, at });
    const standing = status === "COMPLETED" ? "done" : status === "STOPPED" ? "stopped" : "failed";
    board.update(state, { standing, file, error: why, endedAt: at, owed });
    folder.addResult(resultLine(state));
    this.tell(state);
    await report.changed(state, true);
  }

  #date(): string {
    return isoDate(this.#parts.ctx.host.clock.now());
  }
}

/** Milliseconds after which an output may be there that was not; undefined where it never will. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof UnreachableError) return PAUSE_MS;
  const isLimited = error instanceof RefusedError && error.kind === "rate-limited";
  return isLimited ? Math.max((error.retryAfter ?? 0) * 1_000, PAUSE_MS) : undefined;
}
