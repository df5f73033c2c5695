import { LocalError } from "../../../core/files/local-error.js";
import { ResearchError } from "../../calls/errors.js";
import { DEFAULT_PATIENCE_MS } from "../../calls/watch/give-up-policy.js";
import { AsyncQueue } from "./async-queue.js";
import {
  type BatchContext,
  type BatchJob,
  type BatchRunEvent,
  type BatchRunOptions,
  giveUpRow,
} from "./batch-context.js";
import type { BatchLane } from "./create-pacer.js";
import { type BatchForecast, estimateBatch, estimateRunDuration } from "./estimate-batch.js";
import { BatchProgress, type RowState } from "./plan-rows.js";
import { ResultCollector } from "./result-collector.js";
import { RowFollower } from "./row-follower.js";
import { RowSubmitter } from "./row-submitter.js";

/** A running batch. */
export class BatchRunner {
  readonly progress: BatchProgress;
  readonly #context: BatchContext;
  readonly #usualMs: number | undefined;
  readonly #events = new AsyncQueue<BatchRunEvent>();
  /** Aborts when the batch ends. */
  readonly #end = new AbortController();
  readonly #collector: ResultCollector;
  readonly #followers: ReadonlyMap<BatchLane, RowFollower>;
  readonly #submitters: readonly RowSubmitter[];

  constructor(job: BatchJob, options: BatchRunOptions) {
    const [{ account }] = job.lanes as [BatchLane];
    this.progress = new BatchProgress(job.states);
    this.#usualMs = estimateRunDuration(account);
    this.#context = {
      ...{ ...options, ...job, account, progress: this.progress },
      patience: options.patience ?? DEFAULT_PATIENCE_MS,
      emit: (event) => this.#emit(event),
      end: AbortSignal.any([options.signal, this.#end.signal]),
      noMoreCreates: new AbortController(),
    };
    this.#collector = new ResultCollector(this.#context);
    const followers = job.lanes.map(
      (lane) => [lane, new RowFollower(this.#context, lane.account, this.#collector)] as const,
    );
    this.#followers = new Map(followers);
    const add = (state: RowState) => this.#add(state);
    this.#submitters = job.lanes.map((lane) => new RowSubmitter(this.#context, lane, add));
  }

  /** What the hour still allows, and when the batch will probably end; empty with several accounts. */
  get forecast(): BatchForecast {
    const { lanes, account } = this.#context;
    const [only, ...others] = lanes;
    if (!only || others.length > 0) return {};
    return estimateBatch(this.progress.counts, only.pacer, this.#usualMs, account.clock.now());
  }

  /** Whether the number of create calls allowed per hour is known for every account. */
  get hasLimit(): boolean {
    return this.#context.lanes.every(({ pacer }) => pacer.limit !== undefined);
  }

  /** Records the check of a row after the row's result was written. Throws LocalError. */
  noteCheck(state: RowState): void {
    this.#collector.noteCheck(state);
  }

  /** Sends, follows and collects all rows. Throws `signal.reason` after an abort, once all work has ended. */
  async *run(): AsyncGenerator<BatchRunEvent, void> {
    const { folder, states } = this.#context;
    folder.results.update(states);
    for (const state of states) {
      if (state.standing === "running") this.#add(state);
      else if (state.file && !state.check) this.#collector.add(state);
    }
    const works = [this.#submit(), this.#follow(), this.#collector.run()];
    const ended = this.#runAll(works).finally(() => this.#events.close());
    // Mark the rejection as handled until it is awaited below.
    ended.catch(() => {});
    try {
      yield* this.#events;
    } finally {
      this.#end.abort();
      await ended.catch(() => {});
    }
    await ended;
  }

  /** Waits for all promises. The first failure aborts the other work, and this method rejects with that failure. */
  async #runAll(works: readonly Promise<void>[]): Promise<void> {
    await Promise.all(works.map((work) => work.catch((error: unknown) => this.#end.abort(error))));
    this.#context.end.throwIfAborted();
  }

  /** Follows a row whose request exists, at the account that created the request. */
  #add(state: RowState): void {
    const follower = state.lane && this.#followers.get(state.lane);
    if (follower) {
      follower.add(state);
      return;
    }
    const { requestId = "", origin, profile } = state;
    const error = new ResearchError(
      "NOT_AUTHENTICATED",
      `${requestId} was created with ${profile ? `profile ${profile} at ${origin}` : origin}, which is not set up any more`,
      { requestId },
    );
    giveUpRow(this.#context, state, error);
  }

  async #follow(): Promise<void> {
    try {
      await Promise.all([...this.#followers.values()].map((follower) => follower.run()));
    } finally {
      this.#collector.close();
    }
  }

  /** Sends all rows. Emits an event if no more create calls are sent; the running rows are still followed to their end. */
  async #submit(): Promise<void> {
    const { noMoreCreates } = this.#context;
    const submit = (submitter: RowSubmitter) =>
      submitter.run().catch((error: unknown) => {
        noMoreCreates.abort(error);
        throw error;
      });
    try {
      const ended = await Promise.allSettled(this.#submitters.map(submit));
      const failed = ended.find(({ status }) => status === "rejected");
      if (failed) throw noMoreCreates.signal.reason;
    } catch (error) {
      if (this.#context.end.aborted) throw error;
      if (error instanceof TooManyFailuresError)
        this.#emit({ kind: "creates-stopped", reason: { failures: error.failures } });
      else if (error instanceof ResearchError || error instanceof LocalError)
        this.#emit({ kind: "creates-stopped", reason: { error } });
      else throw error;
    } finally {
      for (const follower of this.#followers.values()) follower.close();
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
