import { WINDOW_MS } from "../../../../protocol/limits.js";

/** A time that lies ahead of a clock that was set back. */
interface Ahead {
  at: number;
  /** The earliest time of the clock at which it was seen ahead: it counts as of then. */
  since: number;
}

/**
 * §8: the times of the last hour, epoch ms. One that lies in the future counts as of the moment at which that is seen,
 * and as of its own time once the clock is right again: a clock that was wrong for a while hides no request.
 */
export class RollingWindow {
  #times: number[] = [];
  #isSorted = true;
  #ahead: Ahead[] = [];

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
    if (past > 0) this.#times.splice(0, past);
  }
}

const ascending = (a: number, b: number) => a - b;
