import { type HourlyLimit, WINDOW_MS } from "../../../ground/protocol/limits.js";

type CountedOperation = keyof HourlyLimit;

/** A request that counts. */
export interface Count {
  operation: CountedOperation;
  /** The id of its key. */
  key: string;
  /** Epoch ms. */
  at: number;
}

/**
 * §8: the requests of the last hour, by key and operation. The window rolls. A create counts when it is accepted; a
 * stop counts whatever it finds, for its column (20 for 10 creates) could never be reached otherwise.
 */
export class HourlyWindows {
  /** Epoch ms, by operation and key. */
  readonly #times = new Map<string, number[]>();
  /** Whether each stands in its order: a journal may be in another one. */
  #isSorted = true;

  /** Counts a request, or says how long it has to wait, ms. */
  take(count: Count, limit: number): { retryAfterMs: number } | undefined {
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    const { at: now } = count;
    const times = this.#current(nameOf(count), now);
    if (times.length >= limit)
      return { retryAfterMs: (times[times.length - limit] ?? now) + WINDOW_MS - now };
    times.push(now);
    return undefined;
  }

  /** Counts a request of the last hour as it was written. */
  restore(count: Count, now: number): void {
    if (count.at <= now - WINDOW_MS) return;
    this.#isSorted = false;
    this.#of(nameOf(count)).push(count.at);
  }

  /** Takes back a request that was not carried out. */
  release(count: Count): void {
    const times = this.#of(nameOf(count));
    const index = times.lastIndexOf(count.at);
    if (index >= 0) times.splice(index, 1);
  }

  /** All that counts at `now` (epoch ms), in ascending order for each key and operation. */
  *counts(now: number): Generator<Count> {
    for (const name of this.#times.keys()) {
      const [operation, key] = name.split(" ") as [CountedOperation, string];
      for (const at of this.#current(name, now)) yield { operation, key, at };
    }
  }

  /** The times of the last hour, ascending. What lies in the future counts as of now: the clock was set back. */
  #current(name: string, now: number): number[] {
    if (!this.#isSorted) for (const times of this.#times.values()) times.sort((a, b) => a - b);
    this.#isSorted = true;
    const times = this.#of(name);
    const ahead = times.findLastIndex((at) => at <= now) + 1;
    times.fill(now, ahead);
    const first = times.findIndex((at) => at > now - WINDOW_MS);
    times.splice(0, first === -1 ? times.length : first);
    return times;
  }

  #of(name: string): number[] {
    const times = this.#times.get(name) ?? [];
    this.#times.set(name, times);
    return times;
  }
}

/** The name of what counts together. */
const nameOf = ({ operation, key }: Count) => `${operation} ${key}`;
