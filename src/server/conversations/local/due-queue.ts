import { type Clock, onAbort } from "../../../clock.js";

/** Names in the order in which they become due. Thousands may wait for an hour, so nothing is made for each of them. */
export class DueQueue {
  /** Due times (monotonic ms) by name. All wait equally long, so the first is due first. */
  readonly #waiting = new Map<string, number>();
  #returned: string[] = [];
  #added = () => {};
  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#waiting.size + this.#returned.length;
  }

  add(name: string, delayMs: number): void {
    this.#waiting.set(name, this.clock.monotonic() + delayMs);
    this.#added();
  }

  /** Adds a name before all others, due now. */
  addFirst(name: string): void {
    this.#returned.push(name);
    this.#added();
  }

  delete(name: string): void {
    this.#waiting.delete(name);
    this.#returned = this.#returned.filter((other) => other !== name);
  }

  /** How long the first name has been due, ms; 0 if none is. */
  overdueMs(): number {
    for (const dueAt of this.#waiting.values()) return Math.max(0, this.clock.monotonic() - dueAt);
    return 0;
  }

  /** Waits until a name is due and takes it out. Rejects with `signal.reason`. One caller at a time. */
  async take(signal: AbortSignal): Promise<string> {
    for (;;) {
      signal.throwIfAborted();
      const name = this.#returned.shift();
      if (name !== undefined) return name;
      const [first] = this.#waiting;
      if (first === undefined) {
        await this.#wait(signal);
        continue;
      }
      const left = first[1] - this.clock.monotonic();
      if (left > 0) {
        await this.clock.sleep(left, signal);
        continue;
      }
      this.#waiting.delete(first[0]);
      return first[0];
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const release = onAbort(signal, () => reject(signal.reason));
      this.#added = () => {
        release();
        this.#added = () => {};
        resolve();
      };
    });
  }
}
