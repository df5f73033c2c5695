import type { StateSeen } from "../../client/watch/types.js";
import { isCutShort } from "../../dialects/dialect.js";
import { type FollowEvent, type FollowOptions, follow } from "../follow.js";
import type { Ports } from "../ports.js";
import type { Target } from "../targets.js";
import { AsyncQueue } from "./async-queue.js";
import { RowTimeoutError } from "./errors.js";
import type { Emit } from "./events.js";
import type { RowState } from "./plan.js";
import type { BatchProgress } from "./progress.js";
import { type ResultCollector, targetOf } from "./result-collector.js";

export interface RowFollowerParts {
  ports: Pick<Ports, "client" | "history" | "origin">;
  progress: BatchProgress;
  collector: ResultCollector;
  emit: Emit;
  /** `timeout` and `queueTimeout` are for each row. */
  options: FollowOptions;
}

/** Follows every row that runs, also rows that begin to run meanwhile, in one watch. */
export class RowFollower {
  readonly #parts: RowFollowerParts;
  readonly #running = new AsyncQueue<Target>();
  readonly #byId = new Map<string, RowState>();

  constructor(parts: RowFollowerParts) {
    this.#parts = parts;
  }

  /** Takes a row that exists. */
  add(state: RowState): void {
    const { requestId } = state;
    if (requestId === undefined) return;
    this.#byId.set(requestId, state);
    this.#running.push(targetOf(state, this.#parts.ports.origin));
  }

  /** No more rows will come. */
  close(): void {
    this.#running.close();
  }

  /** Resolves when every row has ended or was given up. */
  async run(): Promise<void> {
    const { ports, collector, options } = this.#parts;
    try {
      for await (const event of follow(ports, this.#running, options)) this.#apply(event);
    } finally {
      collector.close();
    }
  }

  #apply(event: FollowEvent): void {
    const { emit } = this.#parts;
    switch (event.kind) {
      case "state":
        this.#changed(event);
        break;
      case "trouble":
        emit({ kind: "trouble", activity: "poll", error: event.error });
        break;
      case "not-observed":
        emit({ kind: "history-not-updated", error: event.error });
        break;
      case "given-up":
        this.#leave(event.requestId, event.error);
        break;
      case "timeout": {
        const { timeout = 0, queueTimeout = 0 } = this.#parts.options;
        const limit = event.limit === "whole" ? timeout : queueTimeout;
        this.#leave(event.requestId, new RowTimeoutError(event.requestId, event.limit, limit));
        break;
      }
      case "stuck":
        emit(event);
        break;
      case "recovered":
      case "unchanged":
        emit({ kind: event.kind });
        break;
      case "asked-to-wait":
        emit({ kind: event.kind, waitMs: event.waitMs });
        break;
    }
  }

  #changed({ requestId, status, final, data }: StateSeen): void {
    const { progress, emit, collector } = this.#parts;
    const state = this.#byId.get(requestId);
    if (!state) return;
    const isNew = status !== state.status;
    const { cost_dollars: cost } = data;
    progress.update(state, {
      status,
      cutShort: isCutShort(data),
      costDollars: typeof cost === "number" ? cost : undefined,
    });
    if (final) {
      this.#byId.delete(requestId);
      collector.add(state);
    } else if (isNew) emit({ kind: "row", state, final: false });
  }

  #leave(requestId: string, error: unknown): void {
    const state = this.#byId.get(requestId);
    this.#byId.delete(requestId);
    if (state) this.#parts.collector.leave(state, error);
  }
}
