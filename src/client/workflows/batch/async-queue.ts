/** A queue that gives each item to one consumer. Iteration ends when the queue is closed and empty. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #next = 0;
  #closed = false;
  readonly #consumers: (() => void)[] = [];

  push(item: T): void {
    this.#items.push(item);
    this.#consumers.shift()?.();
  }

  close(): void {
    this.#closed = true;
    for (const wake of this.#consumers.splice(0)) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      if (this.#next < this.#items.length) {
        const item = this.#items[this.#next++] as T;
        if (this.#next === this.#items.length) {
          this.#items = [];
          this.#next = 0;
        }
        yield item;
      } else if (this.#closed) return;
      else await new Promise<void>((wake) => this.#consumers.push(wake));
    }
  }
}
