import { ResearchError } from "../../client/errors.js";
import { DEFAULT_PATIENCE_MS } from "../../client/watch/give-up-policy.js";
import { LocalError } from "../../store/files.js";
import type { Ports } from "../ports.js";
import { AsyncQueue } from "./async-queue.js";
import type { BatchContext, BatchJob, BatchRunEvent, BatchRunOptions } from "./context.js";
import { type BatchOutlook, outlookOf, usualLength } from "./estimate.js";
import { BatchProgress, type RowState } from "./plan.js";
import { ResultCollector } from "./result-collector.js";
import { RowFollower } from "./row-follower.js";
import { RowSubmitter } from "./row-submitter.js";

/** A batch that is under way. */
export class Batch {
  readonly progress: BatchProgress;
  readonly #context: BatchContext;
  readonly #usualMs: number | undefined;
  readonly #events = new AsyncQueue<BatchRunEvent>();
  /** Aborted when everything ends. */
  readonly #end = new AbortController();
  readonly #collector: ResultCollector;
  readonly #follower: RowFollower;
  readonly #submitter: RowSubmitter;

  constructor(ports: Ports, job: BatchJob, options: BatchRunOptions) {
    this.progress = new BatchProgress(job.states);
    this.#usualMs = usualLength(ports.history, ports.origin);
    this.#context = {
      ...{ ...options, ...job, ports, progress: this.progress },
      patience: options.patience ?? DEFAULT_PATIENCE_MS,
      emit: (event) => this.#emit(event),
      end: AbortSignal.any([options.signal, this.#end.signal]),
      noMoreCreates: new AbortController(),
    };
    this.#collector = new ResultCollector(this.#context);
    this.#follower = new RowFollower(this.#context, this.#collector);
    this.#submitter = new RowSubmitter(this.#context, this.#follower);
  }

  /** What is known of the hours ahead. */
  get outlook(): BatchOutlook {
    const { pacer, ports } = this.#context;
    return outlookOf(this.progress.counts, pacer, this.#usualMs, ports.clock.now());
  }

  /** Confirms that the end of a row was announced: a later command does not announce it again. */
  announced(state: RowState): void {
    this.#collector.announced(state);
  }

  /**
   * Sends, follows and collects all rows, and yields what happens. Throws `signal.reason` when aborted, and what
   * is unforeseen; all work has ended by then. If the caller stops iterating, all work ends, too.
   */
  async *run(): AsyncGenerator<BatchRunEvent, void> {
    const { folder, states } = this.#context;
    folder.results.complete(states);
    for (const state of states) if (state.standing === "running") this.#follower.add(state);
    const works = [this.#submit(), this.#follower.run(), this.#collector.run()];
    const ended = this.#all(works).finally(() => this.#events.close());
    // It is awaited below; until then its rejection is handled.
    ended.catch(() => {});
    try {
      yield* this.#events;
    } finally {
      this.#end.abort(new Error("the caller has stopped iterating"));
      await ended.catch(() => {});
    }
    await ended;
  }

  /** Waits for all works; the first that fails ends the others. Rejects with what ended them. */
  async #all(works: readonly Promise<void>[]): Promise<void> {
    let failure: { error: unknown } | undefined;
    const settled = works.map((work) =>
      work.catch((error: unknown) => {
        failure ??= { error };
        this.#end.abort(error);
      }),
    );
    await Promise.all(settled);
    this.#context.signal.throwIfAborted();
    if (failure) throw failure.error;
  }

  /** What ends the creates alone is an event, and the rows that run are followed to their end. */
  async #submit(): Promise<void> {
    try {
      await this.#submitter.run();
    } catch (error) {
      if (this.#context.end.aborted) throw error;
      if (error instanceof TooManyFailuresError)
        this.#emit({ kind: "creates-stopped", reason: { failures: error.failures } });
      else if (error instanceof ResearchError || error instanceof LocalError)
        this.#emit({ kind: "creates-stopped", reason: { error } });
      else throw error;
    } finally {
      this.#follower.close();
    }
  }

  #emit(event: BatchRunEvent): void {
    this.#events.push(event);
    const { failures } = this.progress;
    const { maxFailures = Number.POSITIVE_INFINITY, noMoreCreates } = this.#context;
    if (failures >= maxFailures) noMoreCreates.abort(new TooManyFailuresError(failures));
  }
}

class TooManyFailuresError extends Error {
  constructor(readonly failures: number) {
    super();
  }
}
