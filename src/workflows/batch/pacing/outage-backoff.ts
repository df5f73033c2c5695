import type { Clock } from "../../../clock.js";

/** The first wait after a create that could not be sent, and the longest, in milliseconds. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Backoff for creates that provably never left. A service that has answered before has an outage, which is waited
 * out for `patience` milliseconds; one that never answered is a wrong setting, and nothing is repeated.
 */
export class OutageBackoff {
  readonly #clock: Clock;
  readonly #patience: number;
  /** Since when (monotonic ms) nothing could be sent. */
  #since: number | undefined;
  #hasAnswered = false;

  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Notes that the service has answered. Returns whether that ends an outage. */
  answered(): boolean {
    this.#hasAnswered = true;
    const wasOut = this.#since !== undefined;
    this.#since = undefined;
    return wasOut;
  }

  /** The wait in milliseconds before the next try, undefined if there is none; `isFirst`: this failure begins the outage. */
  failed(): { waitMs: number | undefined; isFirst: boolean } {
    const now = this.#clock.monotonic();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= this.#patience) return { waitMs: undefined, isFirst };
    return { waitMs: Math.min(Math.max(lasting, FIRST_WAIT_MS), LONGEST_WAIT_MS), isFirst };
  }
}
