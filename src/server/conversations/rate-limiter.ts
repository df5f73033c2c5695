import type { Clock } from "../../clock.js";
import { type HourlyLimit, inWindow, nextSlot } from "../../protocol/limits.js";
import { ServiceError } from "../http/service-error.js";

/**
 * §8: requests of one hour, by key and operation. The window rolls. A create counts when it is accepted; a stop
 * counts whatever it finds, for its column (20 for 10 creates) could never be reached otherwise.
 */
export class RateLimiter {
  readonly #attempts = new Map<string, number[]>();
  constructor(
    private readonly limits: HourlyLimit,
    private readonly clock: Clock,
  ) {}

  /** Takes one request of the hour and returns its time (epoch ms); a ServiceError, uncounted, when none is left. */
  take(operation: keyof HourlyLimit, key: string): number {
    const now = this.clock.now();
    const free = nextSlot(this.#of(operation, key), this.limits[operation], now);
    if (free > now) {
      const seconds = Math.max(1, Math.ceil((free - now) / 1000));
      throw new ServiceError(
        "RATE_LIMIT_EXCEEDED",
        `The limit of ${this.limits[operation]} ${operation} requests per hour is exceeded. ` +
          `The next one is free in ${seconds} s.`,
        { "Retry-After": String(seconds) },
      );
    }
    this.restore(operation, key, now);
    return now;
  }

  /** Counts a request of time `at` (epoch ms), as read back from the journal. */
  restore(operation: keyof HourlyLimit, key: string, at: number): void {
    if (!Number.isFinite(this.limits[operation])) return;
    const counted = inWindow(this.#of(operation, key), this.clock.now());
    this.#attempts.set(`${operation} ${key}`, [...counted, at]);
  }

  /** Takes back a request that came to nothing. */
  release(operation: keyof HourlyLimit, key: string, at: number): void {
    const attempts = this.#of(operation, key);
    const index = attempts.indexOf(at);
    if (index >= 0) attempts.splice(index, 1);
  }

  #of(operation: keyof HourlyLimit, key: string): number[] {
    return this.#attempts.get(`${operation} ${key}`) ?? [];
  }
}
