import TinyQueue from "tinyqueue";
import { POOL_SIZE } from "../../../core/http/origin-connections.js";
import type { RequestPacer } from "../request-pacer.js";
import type { WatchOptions } from "./watch-types.js";
import type { WatchedRequest } from "./watched-request.js";

interface PlannedPoll {
  at: number;
  /** Number of polls that were planned before this one; polls with the same time keep this order. */
  order: number;
  watched: WatchedRequest;
}

/** Maximum number of polls at once, without those that run longer than `SLOW_MS`. */
const AT_ONCE = 16;
/** A poll that has run this long (ms) no longer counts, so that slow answers do not delay all others. */
const SLOW_MS = 2_000;

/** Decides which id to poll next, and when: by intervals, deadlines, the size of the connection pool, and the pace of all polls. */
export class PollScheduler {
  #queue = createPollQueue();
  #added = 0;
  readonly #timeout: number;
  readonly #pace: RequestPacer;
  /** Start times of the running polls, oldest first. */
  readonly #running: number[] = [];
  /** Number of planned last polls for each deadline. */
  readonly #lastPolls = new Map<number, number>();

  /** `pace` applies to all polls, including the last ones. */
  constructor({ timeout }: Pick<WatchOptions, "timeout">, pace: RequestPacer) {
    this.#timeout = timeout || Number.POSITIVE_INFINITY;
    this.#pace = pace;
  }

  /** Returns the deadline of an id, in monotonic milliseconds; Infinity if it has none. */
  getDeadline({ since }: WatchedRequest): number {
    return since + this.#timeout;
  }

  /** Plans the next poll of an id after `waitMs`, or its last one before the deadline. Returns false if the deadline has passed at `now`. */
  schedule(watched: WatchedRequest, now: number, waitMs: number): boolean {
    const deadline = this.getDeadline(watched);
    if (now >= deadline) return false;
    const at = now + waitMs;
    const lastPollsBegin = deadline - (this.#queue.length + this.#running.length + 1) * this.#pace.betweenMs;
    watched.hadLastPoll = watched.startedAt >= lastPollsBegin;
    if (watched.hadLastPoll) this.#add(deadline, watched);
    else if (watched.polls === 0 || at < lastPollsBegin) this.#add(Math.min(at, deadline), watched);
    else this.#add(this.#planLastPoll(watched, deadline, now), watched);
    return true;
  }

  /** Removes and returns the id to poll now; undefined if no id is due or no poll may start. */
  popDue(now: number): WatchedRequest | undefined {
    return this.findNextStart() <= now ? this.#queue.pop()?.watched : undefined;
  }

  /** Notes that a poll starts. */
  noteStart(now: number): void {
    this.#running.push(now);
    this.#pace.startPoll(now);
  }

  /** Notes that the poll which started at `at` has ended. */
  noteEnd(at: number): void {
    this.#running.splice(this.#running.indexOf(at), 1);
  }

  /** Returns whether a poll is running. */
  get isPolling(): boolean {
    return this.#running.length > 0;
  }

  /** Returns when the next poll may start, in monotonic ms; Infinity if no poll is planned or a running one must end first. */
  findNextStart(): number {
    const next = this.#queue.peek();
    return this.#pace.planPoll(this, next ? Math.max(next.at, this.#placeAt()) : Number.POSITIVE_INFINITY);
  }

  /** Withdraws the planned poll from the pace. */
  dispose(): void {
    this.#pace.planPoll(this, Number.POSITIVE_INFINITY);
  }

  /** Returns when a further poll may run beside the others; Infinity if a running one must end first. */
  #placeAt(): number {
    const { length } = this.#running;
    if (length >= POOL_SIZE) return Number.POSITIVE_INFINITY;
    return (this.#running[length - AT_ONCE] ?? Number.NEGATIVE_INFINITY) + SLOW_MS;
  }

  /** Makes every id due at once, unless the service asked for a longer wait. Needed after a suspend, which outdates the plan. */
  rescheduleAll(now: number): void {
    const before = this.#queue;
    this.#queue = createPollQueue();
    for (let entry = before.pop(); entry; entry = before.pop()) {
      const { watched } = entry;
      this.#add(Math.max(now, Math.min(watched.notBefore, this.getDeadline(watched))), watched);
    }
  }

  #add(at: number, watched: WatchedRequest): void {
    this.#queue.push({ at, order: this.#added++, watched });
  }

  #planLastPoll(watched: WatchedRequest, deadline: number, now: number): number {
    const plannedPolls = this.#lastPolls.get(deadline) ?? 0;
    const at = Math.max(deadline - plannedPolls * this.#pace.betweenMs, now);
    // The service asked for a longer wait: check at the deadline whether the wait is over.
    if (watched.notBefore > at) return deadline;
    this.#lastPolls.set(deadline, plannedPolls + 1);
    return at;
  }
}

function createPollQueue(): TinyQueue<PlannedPoll> {
  return new TinyQueue<PlannedPoll>([], (a, b) => a.at - b.at || a.order - b.order);
}
