import { type Clock, onAbort } from "../../core/clock.js";
import { JsonText, stringifyExact } from "../../core/json/exact-json.js";
import {
  type Progress,
  type Researcher,
  ResearchFailure,
  type ResearchJob,
  type ResearchUpdate,
} from "../../core/researcher.js";
import { Semaphore } from "../../core/semaphore.js";
import { describeProgress } from "../../core/text/describe-progress.js";
import { describeError } from "../../core/text/format-text.js";
import { describeDefect, type Log, TroubleLog } from "../monitoring/operator-log.js";
import {
  type Claim,
  type ConversationStore,
  type Outcome,
  Released,
  ServiceClosing,
} from "./conversation-store.js";

export interface SchedulerOptions {
  /** Maximum number of conversations that may be PROCESSING in this process at a time. */
  workers: number;
  /** Minimum time in PROCESSING, in ms. */
  processingMs: number;
  researcher: Researcher;
  store: Pick<ConversationStore, "claim" | "tell" | "end" | "returnClaim">;
  clock: Clock;
  log: Log;
  /** Called when the research for a conversation ends, with the state and the milliseconds in PROCESSING. */
  ended?: (status: Outcome["status"], durationMs: number) => void;
}

/** Interval between attempts of a failing claim or write, in ms. */
const RETRY_MS = 5_000;
/** Interval between two writes of a conversation's progress, in ms. */
const TELL_MS = 1_000;
/** Maximum number of starts of one conversation. If its research ended the worker this often, it would do so again. */
export const MAX_STARTS = 5;
const LOST_EACH_TIME = `The research was begun ${MAX_STARTS} times, and the service was lost each time before it ended.`;

/** Claims due conversations, runs their research and writes the outcomes. */
export class Scheduler {
  readonly #researching = new Set<Promise<unknown>>();
  readonly #running = new Set<Promise<void>>();
  readonly #semaphore: Semaphore;
  readonly #closing = new AbortController();
  readonly #troubles: TroubleLog;
  #claiming: Promise<unknown> | undefined;
  constructor(private readonly options: SchedulerOptions) {
    this.#troubles = new TroubleLog(options.log, options.clock);
    this.#semaphore = new Semaphore(options.workers);
  }

  start(): void {
    const { researcher, store } = this.options;
    const claims = { claim: (signal: AbortSignal) => store.claim(signal), resumed: false };
    this.#claiming ??= Promise.all((researcher.claims ?? [claims]).map((claims) => this.#claimAll(claims)));
  }

  /** Aborts all research and waits until it has ended. The claims may not have been returned to the store yet. */
  async stop(): Promise<void> {
    this.#closing.abort(new ServiceClosing("the service is closing"));
    await Promise.all(this.#researching);
  }

  /** Aborts all work and waits until every claim was returned. */
  async close(): Promise<void> {
    await this.stop();
    await this.#claiming;
    await Promise.all(this.#running);
  }

  async #claimAll({ claim, resumed }: NonNullable<Researcher["claims"]>[number]): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let release: (() => void) | undefined;
      try {
        if (!resumed) release = await this.#semaphore.acquire(signal);
        this.#begin(await claim(signal), release ?? this.#semaphore.acquireImmediately());
        this.#troubles.noteRecovery("claims of work");
      } catch (error) {
        release?.();
        if (signal.aborted) return;
        this.#troubles.noteFailure("claims of work", error);
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  #begin(claim: Claim, release: () => void): void {
    const { signal: closing } = this.#closing;
    const work = new AbortController();
    // `AbortSignal.any` takes many times as long with a thousand signals.
    onAbort(claim.signal, () => work.abort(claim.signal.reason));
    const forget = onAbort(closing, () => work.abort(closing.reason));
    const running = this.#runClaim(claim, work.signal).finally(() => {
      forget();
      this.#running.delete(running);
      release();
    });
    this.#running.add(running);
  }

  async #runClaim(claim: Claim, signal: AbortSignal): Promise<void> {
    const { clock, ended, log, store } = this.options;
    const begun = clock.monotonic();
    try {
      const outcome: Outcome =
        claim.starts > MAX_STARTS
          ? { status: "FAILED", reason: LOST_EACH_TIME }
          : await this.#runAndObserve(claim, signal);
      if (await this.#end(claim, outcome, signal)) ended?.(outcome.status, clock.monotonic() - begun);
    } catch (error) {
      if (!signal.aborted && !(error instanceof Released))
        log(...describeDefect(error, { request_id: claim.job.request_id }));
      await store
        .returnClaim(claim)
        .catch((failure) => log(`a claim could not be returned: ${describeError(failure)}`));
    }
  }

  /** Repeats the write of an outcome until it succeeds, so that no result is lost because of a full disk. Returns what `end` returns. */
  async #end(claim: Claim, outcome: Outcome, signal: AbortSignal): Promise<boolean> {
    const { clock, store } = this.options;
    const what = `writes of the end of ${claim.job.request_id}`;
    for (;;) {
      try {
        const ended = await store.end(claim, outcome);
        this.#troubles.noteRecovery(what);
        return ended;
      } catch (error) {
        this.#troubles.noteFailure(what, error, { request_id: claim.job.request_id });
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Runs the research for a claim. Meanwhile stores its progress, and adds its other reports to the data of the outcome. */
  async #runAndObserve(claim: Claim, signal: AbortSignal): Promise<Outcome> {
    const { clock, log, store } = this.options;
    const data: Record<string, unknown> = {};
    const done = new AbortController();
    let untold: Progress | undefined;
    let isTelling = false;
    const tellStore = async () => {
      isTelling = true;
      for (; untold !== undefined && !done.signal.aborted; await clock.sleep(TELL_MS, done.signal)) {
        const progress = untold;
        untold = undefined;
        const facts = { level: "info", request_id: claim.job.request_id, progress } as const;
        log(describeProgress(progress) ?? progress.step, facts);
        await store.tell(claim, JSON.stringify(progress)).catch(() => {});
      }
      isTelling = false;
    };
    try {
      const outcome = await this.#runResearch(claim, signal, ({ progress, ...more }) => {
        Object.assign(data, more);
        if (progress === undefined || done.signal.aborted) return;
        untold = progress;
        if (!isTelling) tellStore().catch(() => {});
      });
      return Object.keys(data).length === 0 ? outcome : { ...outcome, data: stringifyExact(data) };
    } finally {
      done.abort();
    }
  }

  /** Runs the research of a claim. Rejects only with `signal.reason` after an abort, or with Released. */
  async #runResearch(
    claim: Claim,
    signal: AbortSignal,
    tell: (news: ResearchUpdate) => void,
  ): Promise<Outcome> {
    const { job } = claim;
    const { clock, processingMs, researcher, log } = this.options;
    const least = processingMs > 0 ? clock.sleep(processingMs, signal) : undefined;
    const research = researcher
      .research(job, signal, tell, claim)
      .then((result): Outcome | Promise<Outcome> => {
        const output = result instanceof JsonText ? result.text : stringifyExact(result);
        return researcher.takesMisfits
          ? { status: "COMPLETED", output }
          : checkResultSchema(job, output, signal);
      });
    // Wait for both, so that after a stop nothing still runs when the worker's place is free again.
    const ended = Promise.allSettled([research, least]);
    this.#researching.add(ended);
    const [result] = await ended;
    this.#researching.delete(ended);
    signal.throwIfAborted();
    if (result.status === "fulfilled") return result.value;
    if (result.reason instanceof Released) throw result.reason;
    if (result.reason instanceof ResearchFailure) return { status: "FAILED", reason: result.reason.message };
    log(...describeDefect(result.reason, { request_id: job.request_id }));
    return { status: "FAILED", reason: "The researcher failed unexpectedly." };
  }
}

/** Returns FAILED as the outcome if a result does not fit the client's schema, whichever researcher made it. */
async function checkResultSchema(
  { output_schema }: ResearchJob,
  output: string,
  signal: AbortSignal,
): Promise<Outcome> {
  if (output_schema === undefined) return { status: "COMPLETED", output };
  const { checkValue, describeProblem } = await import("../../core/json-schema/check-in-thread.js");
  const problem = await checkValue(output_schema, output, signal);
  if (problem === undefined) return { status: "COMPLETED", output };
  const why = describeProblem(problem, "the top level");
  return { status: "FAILED", reason: `The result does not fit the output_schema: ${why}.` };
}
