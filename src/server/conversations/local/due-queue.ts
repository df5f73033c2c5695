import { type Clock, onAbort } from "../../../ground/clock.js";

interface WaitingKey {
  /** Names that were given back: due now, before all others of their key. */
  returned: string[];
  /** Due times (monotonic ms) by name. All wait equally long, so the first is due first. */
  due: Map<string, number>;
}

/** How often it is looked whether a closed queue is open again, ms. */
const LOOK_MS = 500;

/**
 * Names in the order in which they become due; keys with names that are due take turns. Thousands may wait for an hour, so
 * nothing is made for each of them.
 */
export class DueQueue {
  /** By key; the one whose turn it is stands first. */
  readonly #keys = new Map<string, WaitingKey>();
  #added = () => {};
  constructor(private readonly clock: Clock) {}

  get size(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.sizeOf(key), 0);
  }

  sizeOf(key: string): number {
    const { returned, due } = this.#keys.get(key) ?? { returned: [], due: new Map() };
    return returned.length + due.size;
  }

  /** Of a key, in their order. */
  names(key: string): string[] {
    const { returned, due } = this.#keys.get(key) ?? { returned: [], due: new Map() };
    return [...returned, ...due.keys()];
  }

  add(key: string, name: string, delayMs: number): void {
    this.#of(key).due.set(name, this.clock.monotonic() + delayMs);
    this.#added();
  }

  /** Adds a name before all others of its key, due now. */
  addFirst(key: string, name: string): void {
    this.#of(key).returned.push(name);
    this.#added();
  }

  delete(key: string, name: string): void {
    const waiting = this.#of(key);
    waiting.due.delete(name);
    waiting.returned = waiting.returned.filter((other) => other !== name);
    if (this.sizeOf(key) === 0) this.#keys.delete(key);
  }

  /** How long the first name has been due, ms; 0 if none is. */
  overdueMs(): number {
    return Math.max(
      0,
      ...[...this.#keys.values()].map((waiting) => -leftMs(waiting, this.clock.monotonic())),
    );
  }

  /**
   * Waits until a name is due, of a key that may begin one, and `closedMs` is 0 or less, and takes it out. Rejects with
   * `signal.reason`. One caller at a time.
   */
  async take(
    signal: AbortSignal,
    closedMs: () => number = () => 0,
    beginners: () => Promise<(key: string) => boolean> = async () => () => true,
  ): Promise<string> {
    for (;;) {
      signal.throwIfAborted();
      const mayBegin = await beginners();
      const now = this.clock.monotonic();
      const lefts = [...this.#keys].map(([key, waiting]) => ({ key, left: leftMs(waiting, now) }));
      const next = lefts.find(({ key, left }) => left <= 0 && mayBegin(key));
      const soon = () => Math.min(...lefts.map((one) => (one.left > 0 ? one.left : LOOK_MS)));
      const left = next ? Math.min(LOOK_MS, closedMs()) : soon();
      if (next && left <= 0) return this.#shift(next.key);
      if (lefts.length === 0) await this.#wait(signal);
      else await this.#sleep(left, signal);
    }
  }

  /** Takes the first name of a key out, whose next turn comes after those of all others. */
  #shift(key: string): string {
    const waiting = this.#of(key);
    const [first = ""] = waiting.due.keys();
    const name = waiting.returned.shift() ?? first;
    waiting.due.delete(name);
    this.#keys.delete(key);
    if (waiting.returned.length + waiting.due.size > 0) this.#keys.set(key, waiting);
    return name;
  }

  #of(key: string): WaitingKey {
    const waiting = this.#keys.get(key) ?? { returned: [], due: new Map() };
    this.#keys.set(key, waiting);
    return waiting;
  }

  /** Lets who takes look again: a key may begin more than before. */
  look(): void {
    this.#added();
  }

  /** Where a name stands among those that wait: keys take turns. Undefined if it is not there. */
  placeOf(key: string, name: string): { done: number; of: number } | undefined {
    const own = this.names(key).indexOf(name);
    if (own === -1) return undefined;
    const others = [...this.#keys.keys()].filter((other) => other !== key);
    const before = others.reduce((sum, other) => sum + Math.min(own, this.sizeOf(other)), own);
    return { done: before, of: this.size };
  }

  /** Less if something is added. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const awake = new AbortController();
    const release = onAbort(signal, () => awake.abort());
    this.#added = () => awake.abort();
    await this.clock.sleep(ms, awake.signal).catch(() => {});
    this.#added = () => {};
    release();
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

/** How long until the first name is due, ms; 0 for one that was given back. */
function leftMs({ returned, due }: WaitingKey, now: number): number {
  const [first = now] = due.values();
  return returned.length > 0 ? 0 : first - now;
}
