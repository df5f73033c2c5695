/** When polls of a client may start. Times are monotonic ms. */
export class Pace {
  #last = Number.NEGATIVE_INFINITY;

  /** `betweenMs`: between two starts; 0 for polls that nothing limits. `pacesAll`: other requests keep it as well. */
  constructor(
    readonly betweenMs: number,
    readonly pacesAll = false,
  ) {}

  /** When the next poll may start. */
  get nextStart(): number {
    return this.#last + this.betweenMs;
  }

  /** Notes that a poll starts at `at`, no earlier than the one before. */
  started(at: number): void {
    this.#last = at;
  }
}
