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
  readonly #windows = new Map<string, RollingWindow>();

  /** Counts a request, or says how long it has to wait, ms. */
  take(count: Count, limit: number): { retryAfterMs: number } | undefined {
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    const window = this.#window(count);
    const now = count.at;
    const times = window.current(now);
    if (times.length < limit) {
      window.add(now);
      return undefined;
    }
    const leaves = times[times.length - limit];
    return { retryAfterMs: (leaves ?? now) + WINDOW_MS - now };
  }

  /** Counts a request of the last hour as it was written. */
  restore(count: Count, now: number): void {
    if (count.at > now - WINDOW_MS) this.#window(count).add(count.at);
  }

  /** Takes back a request that was not carried out. */
  release(count: Count): void {
    this.#window(count).remove(count.at);
  }

  /** All that counts at `now` (epoch ms), in ascending order for each key and operation. */
  *counts(now: number): Generator<Count> {
    for (const [name, window] of this.#windows) {
      const [operation, key] = name.split(" ") as [CountedOperation, string];
      for (const at of window.current(now)) yield { operation, key, at };
    }
  }

  #window({ operation, key }: Count): RollingWindow {
    const name = `${operation} ${key}`;
    const window = this.#windows.get(name) ?? new RollingWindow();
    this.#windows.set(name, window);
    return window;
  }
}

/**
 * The times of the last hour, epoch ms. One that lies in the future counts as of the moment at which that is seen,
 * and as of its own time once the clock is right again: a clock that was wrong for a while hides no request.
 */
export class RollingWindow {
  #times: number[] = [];
  #isSorted = true;
  /** Times ahead of a clock that was set back, each with the earliest time of the clock at which that was seen. */
  #ahead: { at: number; since: number }[] = [];

  /** Adds a time in any order. */
  add(at: number): void {
    if (at < (this.#times.at(-1) ?? at)) this.#isSorted = false;
    this.#times.push(at);
  }

  /** Removes one that was added with this time, if there is one. */
  remove(at: number): void {
    const index = this.#times.lastIndexOf(at);
    const ahead = this.#ahead.findIndex((one) => one.at === at);
    if (index >= 0) this.#times.splice(index, 1);
    else if (ahead >= 0) this.#ahead.splice(ahead, 1);
  }

  /** The times that count at `now`, ascending. */
  current(now: number): readonly number[] {
    this.#follow(now);
    if (this.#ahead.length === 0) return this.#times;
    return [...this.#times, ...this.#ahead.map(({ since }) => since)].sort(ascending);
  }

  #follow(now: number): void {
    for (const { at } of this.#ahead) if (at <= now) this.add(at);
    this.#ahead = this.#ahead.filter(({ at }) => at > now);
    if (!this.#isSorted) this.#times.sort(ascending);
    this.#isSorted = true;
    const later = this.#times.findLastIndex((at) => at <= now) + 1;
    this.#ahead.push(...this.#times.splice(later).map((at) => ({ at, since: now })));
    for (const one of this.#ahead) one.since = Math.min(one.since, now);
    this.#ahead = this.#ahead.filter(({ since }) => since > now - WINDOW_MS);
    let past = 0;
    while ((this.#times[past] ?? now) <= now - WINDOW_MS) past += 1;
    this.#times.splice(0, past);
  }
}

const ascending = (a: number, b: number) => a - b;
