import type { WatchEvent, WatchTarget } from "../../client/watch/types.js";
import { epochOf } from "../../clock.js";
import { observe } from "../../workflows/observe.js";
import { type Context, SILENT_WAIT_MS } from "../context.js";
import { CliError } from "../errors.js";
import { formatDuration } from "../terminal/durations.js";
import type { Board } from "./board.js";
import type { Keeper } from "./keeper.js";
import type { RowState } from "./plan.js";
import { AsyncQueue } from "./queue.js";
import type { Report } from "./report.js";

export interface WatcherParts {
  ctx: Context;
  board: Board;
  keeper: Keeper;
  report: Report;
  /** The service's, as the history has it. */
  origin: string;
  /** Aborted when the batch ends early. */
  signal: AbortSignal;
  patience: number;
  /** Milliseconds for each row; 0 or absent for none. */
  timeout: number | undefined;
  queueTimeout: number | undefined;
  interval: number | undefined;
}

/** Watches every row that runs, those too that begin to run meanwhile, through one pool. */
export class RowWatcher {
  readonly #parts: WatcherParts;
  readonly #running = new AsyncQueue<WatchTarget>();
  readonly #byId = new Map<string, RowState>();

  constructor(parts: WatcherParts) {
    this.#parts = parts;
  }

  /** Takes a row that exists. */
  add(state: RowState): void {
    const { requestId, createdAt, sentAt } = state;
    if (requestId === undefined) return;
    this.#byId.set(requestId, state);
    this.#running.push({ requestId, createdAt: epochOf(createdAt), recordedAt: epochOf(sentAt) });
  }

  /** No more rows will come. */
  close(): void {
    this.#running.close();
  }

  /** Returns when every row has come to an end, or was given up. */
  async run(): Promise<void> {
    const { ctx, keeper, signal, patience, timeout = 0, queueTimeout = 0, interval } = this.#parts;
    const options = { timeout, queueTimeout, interval, patience, signal };
    try {
      for await (const event of ctx.client.watch(this.#running, options)) await this.#seen(event);
    } finally {
      keeper.close();
    }
  }

  async #seen(event: WatchEvent): Promise<void> {
    const { report } = this.#parts;
    switch (event.kind) {
      case "state":
        return this.#changed(event.requestId, event.status, event.final);
      case "trouble":
        return report.notice("TROUBLE", `${event.error.message}; polling goes on`);
      case "recovered":
        return report.notice("RECOVERED", "the service answers again");
      case "asked-to-wait":
        if (event.waitMs <= SILENT_WAIT_MS) return;
        return report.notice(
          "WAITING",
          `the service asked to wait ${formatDuration(event.waitMs)} between polls`,
        );
      case "unchanged":
        return report.unchanged();
      case "given-up":
        return this.#unfinished(event.requestId, event.error);
      case "timeout":
        return this.#unfinished(event.requestId, this.#timeout(event.requestId, event.limit));
    }
  }

  async #changed(requestId: string, status: string, final: boolean): Promise<void> {
    const { board, report, keeper } = this.#parts;
    const state = this.#byId.get(requestId);
    if (!state) return;
    const isNews = status !== state.status;
    this.#observe(state, status);
    board.update(state, { status });
    if (final) {
      this.#byId.delete(requestId);
      keeper.add(state);
    } else if (isNews) await report.changed(state, false);
  }

  async #unfinished(requestId: string, error: unknown): Promise<void> {
    const state = this.#byId.get(requestId);
    this.#byId.delete(requestId);
    if (state) await this.#parts.keeper.unfinished(state, error);
  }

  #timeout(requestId: string, limit: "whole" | "queue"): CliError {
    const { timeout = 0, queueTimeout = 0 } = this.#parts;
    const [what, after] =
      limit === "whole" ? ["not finished", timeout] : ["still in the queue", queueTimeout];
    return new CliError("TIMEOUT", `${requestId} is ${what} after ${formatDuration(after)}`, { requestId });
  }

  #observe(state: RowState, seen: string): void {
    const { ctx, origin } = this.#parts;
    const { requestId = null, createdAt = null, sentAt = "" } = state;
    const status = state.status ?? "";
    observe(
      ctx.ports,
      { request_id: requestId, status, origin, created_at: createdAt, sent_at: sentAt },
      seen,
    );
  }
}
