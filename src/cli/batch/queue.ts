/** Things for one or more takers, each thing for one of them; those that come early wait. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  #things: T[] = [];
  #next = 0;
  #closed = false;
  readonly #takers: (() => void)[] = [];

  push(thing: T): void {
    this.#things.push(thing);
    this.#takers.shift()?.();
  }

  /** No more will come: takers end when what is there has been taken. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#takers.splice(0)) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      const thing = this.#things[this.#next];
      if (thing !== undefined) {
        this.#next++;
        if (this.#next === this.#things.length) {
          this.#things = [];
          this.#next = 0;
        }
        yield thing;
      } else if (this.#closed) return;
      else await new Promise<void>((wake) => this.#takers.push(wake));
    }
  }
}
