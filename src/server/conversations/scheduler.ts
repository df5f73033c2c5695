import type { Clock } from "../../clock.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../researchers/researcher.js";
import { Semaphore } from "../semaphore.js";
import type { Conversation, Conversations, Ending } from "./conversations.js";
import type { Trigger } from "./states.js";
import { timestamp } from "./timestamp.js";

export interface SchedulerOptions {
  /** How many conversations may be PROCESSING at a time. */
  workers: number;
  /** Least time in PENDING and in PROCESSING, ms. */
  pendingMs: number;
  processingMs: number;
  researcher: Researcher;
  conversations: Conversations;
  clock: Clock;
  log: (line: string) => void;
}

/** Between two tries to write an end, ms. */
const REWRITE_MS = 5_000;

/** How many misfits a reason names. */
const NAMED = 3;

/** Takes conversations from PENDING through PROCESSING to their end, a few at a time, first come first served. */
export class Scheduler {
  /** By request id, in the order they came. Thousands may wait for an hour, so nothing is made for them yet. */
  readonly #waiting = new Map<string, { conversation: Conversation; job: ResearchJob; dueAt: number }>();
  readonly #running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  readonly #semaphore: Semaphore;
  readonly #closing = new AbortController();
  #feeding: Promise<void> | undefined;
  constructor(private readonly options: SchedulerOptions) {
    this.#semaphore = new Semaphore(options.workers);
  }

  add(conversation: Conversation): void {
    const { job, request_id } = conversation;
    if (job === undefined) return;
    const { clock, pendingMs } = this.options;
    this.#waiting.set(request_id, { conversation, job, dueAt: clock.monotonic() + pendingMs });
    this.#feeding ??= this.#feed().catch(() => {});
  }

  /** Ends the work on a conversation at once (§3). */
  abort(requestId: string): void {
    this.#waiting.delete(requestId);
    this.#running.get(requestId)?.stop.abort(new Error("stopped"));
  }

  /** Ends all work; resolves when nothing of it is left. */
  async close(): Promise<void> {
    const closing = new Error("the service is closing");
    this.#waiting.clear();
    this.#closing.abort(closing);
    await this.#feeding;
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(closing);
    await Promise.all(running.map(({ done }) => done));
  }

  /** Starts what waits, as places become free. All wait equally long, so the first is due first. */
  async #feed(): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.#closing;
    for (const [requestId, { conversation, job, dueAt }] of this.#waiting) {
      for (let left = dueAt - clock.monotonic(); left > 0; left = dueAt - clock.monotonic()) {
        await clock.sleep(left, signal);
      }
      const release = await this.#semaphore.take(signal);
      // It may have been stopped meanwhile.
      if (this.#waiting.delete(requestId)) this.#start(conversation, job, release);
      else release();
    }
    this.#feeding = undefined;
  }

  #start(conversation: Conversation, job: ResearchJob, release: () => void): void {
    const { request_id } = conversation;
    const stop = new AbortController();
    const done = this.#process(conversation, job, stop.signal)
      .catch((error) => {
        if (!stop.signal.aborted) this.options.log(`${request_id}: ${reasonOf(error)}`);
      })
      .finally(() => {
        this.#running.delete(request_id);
        release();
      });
    this.#running.set(request_id, { stop, done });
  }

  async #process(conversation: Conversation, job: ResearchJob, signal: AbortSignal): Promise<void> {
    const { clock, conversations } = this.options;
    if (!(await conversations.move(conversation, "start"))) return;
    const result = await this.#research(job, signal);
    signal.throwIfAborted();
    const ending = { ...result, completed_at: timestamp(clock.now()) };
    await this.#end(conversation, "reason" in result ? "fail" : "complete", ending, signal);
  }

  /** A full disk must not cost a result: the last move is tried until it is written. */
  async #end(
    conversation: Conversation,
    trigger: Trigger,
    ending: Ending,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, conversations, log } = this.options;
    for (;;) {
      try {
        await conversations.move(conversation, trigger, ending);
        return;
      } catch (error) {
        log(`${conversation.request_id}: its end could not be written: ${reasonOf(error)}`);
      }
      await clock.sleep(REWRITE_MS, signal);
    }
  }

  async #research(job: ResearchJob, signal: AbortSignal): Promise<{ output: unknown } | { reason: string }> {
    const { clock, processingMs, researcher, log } = this.options;
    const least = processingMs > 0 ? clock.sleep(processingMs, signal) : undefined;
    const research = researcher.research(job, signal);
    // Both are awaited to the end: a stop must find nothing still running when it gives the slot back.
    const [result] = await Promise.allSettled([research, least]);
    signal.throwIfAborted();
    if (result.status === "fulfilled") return judged(job, result.value);
    if (result.reason instanceof ResearchFailure) return { reason: result.reason.message };
    log(`${job.request_id}: ${reasonOf(result.reason)}`);
    return { reason: "The researcher failed unexpectedly." };
  }
}

/** Whoever did the research: a result that does not fit the client's schema is none. */
async function judged(
  { output_schema }: ResearchJob,
  output: unknown,
): Promise<{ output: unknown } | { reason: string }> {
  if (output_schema === undefined) return { output };
  const { misfits } = await import("../schema.js");
  const wrong = await misfits(output_schema, output);
  if (wrong.length === 0) return { output };
  return { reason: `The result does not fit the output_schema: ${wrong.slice(0, NAMED).join("; ")}.` };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
