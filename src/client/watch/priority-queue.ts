import TinyQueue from "tinyqueue";

interface Entry<T> {
  at: number;
  /** How many were added before it. */
  order: number;
  item: T;
}

/** Items by the time at which they are due, the earliest first; equal times in the order they were added. */
export class PriorityQueue<T> {
  #entries = emptyQueue<T>();
  #added = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** When the next item is due; Infinity if there is none. */
  nextAt(): number {
    return this.#entries.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, item: T): void {
    this.#entries.push({ at, order: this.#added++, item });
  }

  /** Removes and returns the item that is due next. */
  take(): T | undefined {
    return this.#entries.pop()?.item;
  }

  /** Makes every item due at `at`, or at its own `notBefore` if that is later. */
  moveAll(at: number, notBefore: (item: T) => number): void {
    const before = this.#entries;
    this.#entries = emptyQueue();
    for (let entry = before.pop(); entry; entry = before.pop()) {
      this.add(Math.max(at, notBefore(entry.item)), entry.item);
    }
  }
}

function emptyQueue<T>(): TinyQueue<Entry<T>> {
  return new TinyQueue<Entry<T>>([], (a, b) => a.at - b.at || a.order - b.order);
}
