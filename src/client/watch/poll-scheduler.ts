import { POOL_SIZE } from "../http/connections/connections.js";
import type { Deadlines } from "./deadlines.js";
import type { Pace } from "./poll-interval.js";
import { PriorityQueue } from "./priority-queue.js";
import type { Watched } from "./types.js";

/** Which id is polled next, and when: by its own interval, its deadline, the size of the pool, the rate of all polls. */
export class PollScheduler {
  readonly #queue = new PriorityQueue<Watched>();
  readonly #deadlines: Deadlines;
  readonly #pace: Pace;
  #running = 0;
  /** How many ids have a last poll planned, by deadline. */
  readonly #lastPolls = new Map<number, number>();

  /** `pace` holds for all polls, the last ones included. */
  constructor(deadlines: Deadlines, pace: Pace) {
    this.#deadlines = deadlines;
    this.#pace = pace;
  }

  /**
   * Plans the next poll of an id after `waitMs`, or its last one: before the deadline each id is polled once more,
   * one after the other at the rate of all polls. Returns false if the deadline has passed at `now` (monotonic
   * milliseconds).
   */
  schedule(watched: Watched, now: number, waitMs: number): boolean {
    const deadline = this.#deadlines.of(watched);
    if (now >= deadline) return false;
    const at = now + waitMs;
    const lastPollsBegin = deadline - (this.#queue.size + this.#running + 1) * this.#pace.betweenMs;
    watched.hadLastPoll = watched.startedAt >= lastPollsBegin;
    if (watched.hadLastPoll) this.#queue.add(deadline, watched);
    else if (watched.polls === 0 || at < lastPollsBegin) this.#queue.add(Math.min(at, deadline), watched);
    else this.#queue.add(this.#planLastPoll(watched, deadline, now), watched);
    return true;
  }

  /** The id to poll now; undefined if none is due or may be polled. */
  takeDue(now: number): Watched | undefined {
    return this.nextStart() <= now ? this.#queue.take() : undefined;
  }

  /** Notes that a poll starts. */
  started(now: number): void {
    this.#running++;
    this.#pace.nextStart = now + this.#pace.betweenMs;
  }

  /** Notes that a poll has ended. */
  finished(): void {
    this.#running--;
  }

  /** When the next poll may start, in monotonic milliseconds; Infinity if another one has to end first. */
  nextStart(): number {
    return this.#running >= POOL_SIZE
      ? Number.POSITIVE_INFINITY
      : Math.max(this.#queue.nextAt(), this.#pace.nextStart);
  }

  /** Makes every id due at once: after a suspend of the machine the planned times mean nothing. */
  rescheduleAll(now: number): void {
    this.#queue.moveAll(now, (watched) => Math.min(watched.notBefore, this.#deadlines.of(watched)));
  }

  #planLastPoll(watched: Watched, deadline: number, now: number): number {
    const planned = this.#lastPolls.get(deadline) ?? 0;
    const at = Math.max(deadline - planned * this.#pace.betweenMs, now);
    // The service asked for a longer wait: at the deadline it is known whether that is over.
    if (watched.notBefore > at) return deadline;
    this.#lastPolls.set(deadline, planned + 1);
    return at;
  }
}
