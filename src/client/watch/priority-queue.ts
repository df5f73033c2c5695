import TinyQueue from "tinyqueue";

interface Entry<T> {
  at: number;
  /** How many were added before it. */
  order: number;
  thing: T;
}

/** Things and the times at which they are due, the earliest first; equal times in the order they were added. */
export class Schedule<T> {
  #entries = emptyQueue<T>();
  #added = 0;

  /** When the next thing is due; Infinity when there is none. */
  nextAt(): number {
    return this.#entries.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The thing that is due next. */
  peek(): T | undefined {
    return this.#entries.peek()?.thing;
  }

  add(at: number, thing: T): void {
    this.#entries.push({ at, order: this.#added++, thing });
  }

  take(): T | undefined {
    return this.#entries.pop()?.thing;
  }

  /** Makes everything due at `at`, or at its own `notBefore` where that is later. */
  allAt(at: number, notBefore: (thing: T) => number): void {
    const before = this.#entries;
    this.#entries = emptyQueue();
    for (let entry = before.pop(); entry; entry = before.pop()) {
      this.add(Math.max(at, notBefore(entry.thing)), entry.thing);
    }
  }
}

function emptyQueue<T>(): TinyQueue<Entry<T>> {
  return new TinyQueue<Entry<T>>([], (a, b) => a.at - b.at || a.order - b.order);
}
