import type { Watched, WatchOptions } from "./types.js";

/** How long each id of a watch may take: as a whole, and in the queue. */
export class Deadlines {
  readonly #whole: number;
  readonly #queue: number;

  constructor({ timeout, queueTimeout }: WatchOptions) {
    this.#whole = timeout || Number.POSITIVE_INFINITY;
    this.#queue = queueTimeout || Number.POSITIVE_INFINITY;
  }

  /** When the time of an id is over, in monotonic milliseconds; Infinity for never. */
  of({ since, isQueued }: Watched): number {
    return since + (isQueued ? Math.min(this.#whole, this.#queue) : this.#whole);
  }

  /** Which of the two it is that was over at `now`. */
  reached({ since }: Watched, now: number): "whole" | "queue" {
    return now >= since + this.#whole ? "whole" : "queue";
  }
}
