/** When polls of a client may start: `betweenMs` apart, or so many in a second at most. Times are monotonic ms. */
export class Pace {
  /** When the newest polls start, as many as a second may have. */
  readonly #starts: number[] = [];

  /** `betweenMs`: 0 for polls that nothing limits; `isStrict`: no two start together, and other requests wait as well. */
  constructor(
    readonly betweenMs: number,
    readonly isStrict = false,
  ) {}

  /** When the next poll may start. */
  get nextStart(): number {
    const last = this.#starts.at(-1) ?? Number.NEGATIVE_INFINITY;
    return Math.max(last + this.betweenMs, this.#roomAt());
  }

  /** Whether one more may start together with one that starts at `now`. */
  mayJoin(now: number): boolean {
    return !this.isStrict && this.#starts.at(-1) === now && this.#roomAt() + LATE_MS <= now;
  }

  /** Notes that a poll starts at `at`, no earlier than the one before. Where all wait, a late one puts off none after it. */
  started(at: number): void {
    if (this.betweenMs === 0) return;
    const planned = this.nextStart;
    const isLate = this.isStrict && at - planned < this.betweenMs;
    this.#starts.push(isLate ? Math.max(planned, at - SLACK_MS) : at);
    if (this.#starts.length > SECOND / this.betweenMs) this.#starts.shift();
  }

  /** When the oldest of a full second is over. */
  #roomAt(): number {
    const isFull = this.#starts.length >= SECOND / this.betweenMs;
    return isFull ? (this.#starts[0] ?? 0) + SECOND : Number.NEGATIVE_INFINITY;
  }
}

const SECOND = 1_000;
/** A busy machine wakes a process so much later, in milliseconds: each time, it would be a fifth of the pace. */
const SLACK_MS = 50;
/** The last of several polls that start at once may arrive so much later, and the service counts what arrives. */
const LATE_MS = 100;
