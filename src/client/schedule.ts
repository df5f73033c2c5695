/** Things and the times at which they are due, the earliest first; equal times in the order they were added. */
export class Schedule<T> {
  #entries: { at: number; thing: T }[] = [];

  /** When the next thing is due; Infinity when there is none. */
  nextAt(): number {
    return this.#entries.at(-1)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The thing that is due next. */
  peek(): T | undefined {
    return this.#entries.at(-1)?.thing;
  }

  add(at: number, thing: T): void {
    // Latest first, so that taking the earliest is a pop: a heap would win only beyond many thousands.
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, { at, thing });
  }

  take(): T | undefined {
    return this.#entries.pop()?.thing;
  }

  /** Takes everything, the earliest first. */
  drain(): T[] {
    const things = this.#entries.reverse().map(({ thing }) => thing);
    this.#entries = [];
    return things;
  }

  /** Makes everything due at `at`, or at its own `notBefore` where that is later. */
  allAt(at: number, notBefore: (thing: T) => number): void {
    for (const thing of this.drain()) this.add(Math.max(at, notBefore(thing)), thing);
  }
}
