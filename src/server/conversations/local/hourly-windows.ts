import { type HourlyLimit, WINDOW_MS } from "../../../protocol/limits.js";

type Operation = keyof HourlyLimit;
export interface Count {
  operation: Operation;
  key: string;
  /** Epoch ms. */
  at: number;
}

/**
 * §8: the requests of the last hour, by key and operation. The window rolls. A create counts when it is accepted; a
 * stop counts whatever it finds, for its column (20 for 10 creates) could never be reached otherwise. What lies in
 * the future, because the clock was set back since, counts as now.
 */
export class HourlyWindows {
  /** Times in ascending order, but for those of `#unsorted`. */
  readonly #times = new Map<string, number[]>();
  readonly #unsorted = new Set<string>();

  /** Counts a request at `now`, or says how long it has to wait, ms. */
  take(operation: Operation, key: string, limit: number, now: number): { retryAfterMs: number } | undefined {
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    const times = this.#current(operation, key, now);
    if (times.length < limit) {
      times.push(now);
      return undefined;
    }
    const leaves = times[times.length - limit];
    return { retryAfterMs: (leaves ?? now) + WINDOW_MS - now };
  }

  /** Counts a request as it was written. */
  restore({ operation, key, at }: Count, now: number): void {
    if (at <= now - WINDOW_MS) return;
    const name = `${operation} ${key}`;
    const times = this.#timesOf(name);
    if (at < (times.at(-1) ?? at)) this.#unsorted.add(name);
    times.push(Math.min(at, now));
  }

  /** Takes back a request of time `at` that was not carried out. */
  release({ operation, key, at }: Count): void {
    const times = this.#times.get(`${operation} ${key}`);
    const index = times?.lastIndexOf(at) ?? -1;
    if (index >= 0) times?.splice(index, 1);
  }

  /** All that counts at `now`. */
  *counts(now: number): Generator<Count> {
    for (const name of this.#times.keys()) {
      const [operation, key] = name.split(" ") as [Operation, string];
      for (const at of this.#current(operation, key, now)) yield { operation, key, at };
    }
  }

  #current(operation: Operation, key: string, now: number): number[] {
    const name = `${operation} ${key}`;
    const times = this.#timesOf(name);
    if (this.#unsorted.delete(name)) times.sort((a, b) => a - b);
    let past = 0;
    while ((times[past] ?? now) <= now - WINDOW_MS) past += 1;
    if (past > 0) times.splice(0, past);
    for (let last = times.length - 1; last >= 0 && (times[last] ?? 0) > now; last--) times[last] = now;
    return times;
  }

  #timesOf(name: string): number[] {
    let times = this.#times.get(name);
    if (times === undefined) {
      times = [];
      this.#times.set(name, times);
    }
    return times;
  }
}
