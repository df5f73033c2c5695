import type { Clock } from "../clock.js";
import type { Conversation, Conversations } from "./conversations.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "./researchers/researcher.js";
import { Slots } from "./slots.js";
import { timestamp } from "./timestamp.js";

export interface QueueOptions {
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

/** Takes conversations from PENDING through PROCESSING to their end, a few at a time, first come first served. */
export class Queue {
  readonly #slots: Slots;
  readonly #running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  constructor(private readonly options: QueueOptions) {
    this.#slots = new Slots(options.workers);
  }

  add(conversation: Conversation): void {
    const { job, request_id } = conversation;
    if (job === undefined) return;
    const stop = new AbortController();
    const done = this.#live(conversation, job, stop.signal)
      .catch((error) => {
        if (!stop.signal.aborted) this.options.log(`${request_id}: ${reasonOf(error)}`);
      })
      .finally(() => this.#running.delete(request_id));
    this.#running.set(request_id, { stop, done });
  }

  /** Ends the work on a conversation at once (§3). */
  abort(requestId: string): void {
    this.#running.get(requestId)?.stop.abort(new Error("stopped"));
  }

  /** Ends all work; resolves when nothing of it is left. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(new Error("the service is closing"));
    await Promise.all(running.map(({ done }) => done));
  }

  async #live(conversation: Conversation, job: ResearchJob, signal: AbortSignal): Promise<void> {
    const { clock, conversations, pendingMs, log } = this.options;
    if (pendingMs > 0) await clock.sleep(pendingMs, signal);
    const release = await this.#slots.take(signal);
    try {
      if (!(await conversations.move(conversation, "start"))) return;
      const result = await this.#research(job, signal);
      signal.throwIfAborted();
      const completed_at = timestamp(clock.now());
      if ("reason" in result) await conversations.move(conversation, "fail", { ...result, completed_at });
      else await conversations.move(conversation, "complete", { ...result, completed_at });
      log(`${conversation.request_id} ${conversation.status}`);
    } finally {
      release();
    }
  }

  async #research(job: ResearchJob, signal: AbortSignal): Promise<{ output: unknown } | { reason: string }> {
    const { clock, processingMs, researcher, log } = this.options;
    const least = processingMs > 0 ? clock.sleep(processingMs, signal) : undefined;
    const research = researcher.research(job, signal);
    // Both are awaited to the end: a stop must find nothing still running when it gives the slot back.
    const [result] = await Promise.allSettled([research, least]);
    signal.throwIfAborted();
    if (result.status === "fulfilled") return { output: result.value };
    if (result.reason instanceof ResearchFailure) return { reason: result.reason.message };
    log(`${job.request_id}: ${reasonOf(result.reason)}`);
    return { reason: "The researcher failed unexpectedly." };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
