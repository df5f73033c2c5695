import { ResearchError } from "../../client/errors.js";
import { DEFAULT_PATIENCE_MS } from "../../client/watch/give-up-policy.js";
import { LocalError } from "../../store/errors.js";
import type { Ports } from "../ports.js";
import type { Result } from "../results.js";
import { AsyncQueue } from "./async-queue.js";
import type { BatchEvent } from "./events.js";
import type { RowError } from "./folder/journal.js";
import type { OutputFolder } from "./folder/output-folder.js";
import type { CreatePacer } from "./pacing/create-pacer.js";
import { type BatchOutlook, outlookOf, usualLength } from "./pacing/estimate.js";
import type { RowState } from "./plan.js";
import { BatchProgress } from "./progress.js";
import { ResultCollector } from "./result-collector.js";
import { RowFollower } from "./row-follower.js";
import { RowSubmitter } from "./row-submitter.js";

/** What a batch works on: an output folder that this process holds, and what is to be done with each row. */
export interface BatchJob {
  states: readonly RowState[];
  folder: OutputFolder;
  pacer: CreatePacer;
}

export interface BatchRunOptions {
  signal: AbortSignal;
  /** An error in the form in which it is kept with its row. */
  describe: (error: unknown) => RowError;
  /** The text of a result's file. */
  format: (result: Result) => string;
  /** Says how a result breaks the schema of its row; undefined if it fits, or the row has none. */
  check: (result: Result, state: RowState, signal: AbortSignal) => Promise<string | undefined>;
  /** Whether the caller announces the end of each row and confirms it with `announced`. */
  announces: boolean;
  /** No more creates are sent once so many rows failed. */
  maxFailures?: number | undefined;
  /** For each row, in milliseconds; 0 or undefined for no limit. */
  timeout?: number | undefined;
  queueTimeout?: number | undefined;
  interval?: number | undefined;
  patience?: number | undefined;
}

/** A batch that is under way. */
export class Batch {
  readonly progress: BatchProgress;
  readonly #ports: Ports;
  readonly #job: BatchJob;
  readonly #options: BatchRunOptions;
  readonly #usualMs: number | undefined;
  readonly #events = new AsyncQueue<BatchEvent>();
  /** Aborted when everything ends. */
  readonly #end = new AbortController();
  /** Aborted when no more creates are sent. */
  readonly #noMoreCreates = new AbortController();
  readonly #collector: ResultCollector;
  readonly #follower: RowFollower;
  readonly #submitter: RowSubmitter;

  constructor(ports: Ports, job: BatchJob, options: BatchRunOptions) {
    this.#ports = ports;
    this.#job = job;
    this.#options = options;
    this.progress = new BatchProgress(job.states);
    this.#usualMs = usualLength(ports.history, ports.origin);
    const { timeout = 0, queueTimeout = 0, interval, patience = DEFAULT_PATIENCE_MS } = options;
    const signal = AbortSignal.any([options.signal, this.#end.signal]);
    const { progress } = this;
    const emit = (event: BatchEvent) => this.#emit(event);
    const parts = { ...options, ...job, ports, progress, emit, patience, timeout };
    const onUnwritable = (error: LocalError) => this.#noMoreCreates.abort(error);
    this.#collector = new ResultCollector({ ...parts, signal, onUnwritable });
    this.#follower = new RowFollower({
      ...{ ports, progress, emit, collector: this.#collector },
      // Every row exists because the service answered its create, so a bad first poll is an outage.
      options: { signal, timeout, queueTimeout, interval, patience, answered: true },
    });
    this.#submitter = new RowSubmitter({
      ...parts,
      signal: AbortSignal.any([signal, this.#noMoreCreates.signal]),
      interruption: options.signal,
      onCreated: (state) => this.#follower.add(state),
    });
  }

  /** What is known of the hours ahead. */
  get outlook(): BatchOutlook {
    return outlookOf(this.progress.counts, this.#job.pacer, this.#usualMs, this.#ports.clock.now());
  }

  /** Confirms that the end of a row was announced: a later command does not announce it again. */
  announced(state: RowState): void {
    this.#collector.announced(state);
  }

  /**
   * Sends, follows and collects all rows, and yields what happens. Throws `signal.reason` when aborted, and what
   * is unforeseen; all work has ended by then. If the caller stops iterating, all work ends, too.
   */
  async *run(): AsyncGenerator<BatchEvent, void> {
    const { folder, states } = this.#job;
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
    this.#options.signal.throwIfAborted();
    if (failure) throw failure.error;
  }

  /** What ends the creates alone is an event, and the rows that run are followed to their end. */
  async #submit(): Promise<void> {
    const { signal } = this.#options;
    try {
      await this.#submitter.run();
    } catch (error) {
      if (signal.aborted || this.#end.signal.aborted) throw error;
      if (error instanceof TooManyFailuresError)
        this.#emit({ kind: "creates-stopped", reason: { failures: error.failures } });
      else if (error instanceof ResearchError || error instanceof LocalError)
        this.#emit({ kind: "creates-stopped", reason: { error } });
      else throw error;
    } finally {
      this.#follower.close();
    }
  }

  #emit(event: BatchEvent): void {
    this.#events.push(event);
    const { failures } = this.progress;
    const { maxFailures = Number.POSITIVE_INFINITY } = this.#options;
    if (failures >= maxFailures) this.#noMoreCreates.abort(new TooManyFailuresError(failures));
  }
}

class TooManyFailuresError extends Error {
  constructor(readonly failures: number) {
    super();
  }
}
