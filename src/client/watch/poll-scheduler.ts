import { POOL_SIZE } from "../http/connections/connections.js";
import type { Deadlines } from "./deadlines.js";
import { BETWEEN_POLLS_MS } from "./poll-interval.js";
import { Schedule } from "./priority-queue.js";
import type { Watched } from "./types.js";

/** Whose poll is next, and when: by its own plan, its deadline, the pool, and the pace of all together. */
export class Turns {
  readonly #schedule = new Schedule<Watched>();
  readonly #deadlines: Deadlines;
  readonly #betweenMs: number;
  #underWay = 0;
  #nextLaunch = 0;

  /** `isPaced`: all polls together keep to the pace of one command. */
  constructor(deadlines: Deadlines, isPaced: boolean) {
    this.#deadlines = deadlines;
    this.#betweenMs = isPaced ? BETWEEN_POLLS_MS : 0;
  }

  /** The next poll: after `waitMs`, but once more at the deadline. Returns false where that has passed. */
  plan(watched: Watched, now: number, waitMs: number): boolean {
    const deadline = this.#deadlines.of(watched);
    if (now >= deadline) return false;
    this.#schedule.add(Math.min(now + waitMs, deadline), watched);
    return true;
  }

  /** The id whose turn it is; undefined where none is due, or the pool is full. */
  take(now: number): Watched | undefined {
    return this.nextAt(now) <= now ? this.#schedule.take() : undefined;
  }

  begin(now: number): void {
    this.#underWay++;
    this.#nextLaunch = now + this.#betweenMs;
  }

  end(): void {
    this.#underWay--;
  }

  /** When the next poll may begin; Infinity where one has to end first. */
  nextAt(now: number): number {
    const next = this.#schedule.peek();
    if (!next || this.#underWay >= POOL_SIZE) return Number.POSITIVE_INFINITY;
    // The last ones before a deadline all come at once: the pool alone holds them back.
    const isLast = now >= this.#deadlines.of(next);
    return isLast ? now : Math.max(this.#schedule.nextAt(), this.#nextLaunch);
  }

  /** The machine slept: nothing that was planned by the monotonic clock means anything now. */
  allNow(now: number): void {
    this.#schedule.allAt(now, (watched) => Math.min(watched.notBefore, this.#deadlines.of(watched)));
  }
}
