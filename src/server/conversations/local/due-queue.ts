import { type Clock, onAbort } from "../../../core/clock.js";
import { MOST_COUNTED } from "../conversation-store.js";

/** Interval at which a closed queue is checked again, in ms. */
const LOOK_MS = 500;
/** A wait that only ends when a name is added, in ms. */
const NEVER_MS = 2 ** 52;

/** A queue of names by due time. Keys with due names take turns. Thousands of names may wait for an hour. */
export class DueQueue {
  /** For each key, the due time (monotonic ms) of each name. The first key has the next turn; the first name is due earliest. */
  readonly #keys = new Map<string, Map<string, number>>();
  #added = () => {};
  constructor(private readonly clock: Clock) {}

  get size(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.countOf(key), 0);
  }

  countOf(key: string): number {
    return this.#keys.get(key)?.size ?? 0;
  }

  /** Lists the names of a key in their order. */
  listNames(key: string): string[] {
    return [...(this.#keys.get(key)?.keys() ?? [])];
  }

  add(key: string, name: string, delayMs: number): void {
    this.#getWaiting(key).set(name, this.clock.monotonic() + delayMs);
    this.#added();
  }

  /** Adds a name at the head of its key's queue, due now. */
  addFirst(key: string, name: string): void {
    this.#keys.set(key, new Map([[name, this.clock.monotonic()], ...this.#getWaiting(key)]));
    this.#added();
  }

  delete(key: string, name: string): void {
    const waiting = this.#getWaiting(key);
    waiting.delete(name);
    if (waiting.size === 0) this.#keys.delete(key);
  }

  /** Returns how long the first name has been due, in ms; 0 if no name is due. */
  measureOverdue(): number {
    return Math.max(
      0,
      ...[...this.#keys.values()].map((waiting) => -measureLeft(waiting, this.clock.monotonic())),
    );
  }

  /** Returns the next due name, round-robin over keys; waits while `closedMs` is above 0. One caller at a time. Rejects with `signal.reason`. */
  async take(
    signal: AbortSignal,
    closedMs: () => number = () => 0,
    beginners: () => Promise<(key: string) => boolean> = async () => () => true,
  ): Promise<string> {
    for (;;) {
      signal.throwIfAborted();
      const mayBegin = await beginners();
      const now = this.clock.monotonic();
      const lefts = [...this.#keys].map(([key, waiting]) => ({ key, left: measureLeft(waiting, now) }));
      const next = lefts.find(({ key, left }) => left <= 0 && mayBegin(key));
      const computeWait = () => Math.min(NEVER_MS, ...lefts.map(({ left }) => (left > 0 ? left : LOOK_MS)));
      const left = next ? Math.min(LOOK_MS, closedMs()) : computeWait();
      if (next && left <= 0) return this.#shift(next.key);
      await this.#sleep(left, signal);
    }
  }

  /** Removes and returns the first name of a key, and moves the key behind all others. */
  #shift(key: string): string {
    const waiting = this.#getWaiting(key);
    const [name = ""] = waiting.keys();
    waiting.delete(name);
    this.#keys.delete(key);
    if (waiting.size > 0) this.#keys.set(key, waiting);
    return name;
  }

  #getWaiting(key: string): Map<string, number> {
    const waiting = this.#keys.get(key) ?? new Map();
    this.#keys.set(key, waiting);
    return waiting;
  }

  /** Wakes the waiting caller, because a key may now begin more than before. */
  look(): void {
    this.#added();
  }

  /** Counts the names of a key ahead of `name`, up to a limit; undefined if the name is not queued. */
  placeOf(key: string, name: string): { done: number; of?: number } | undefined {
    const ownNames = this.#keys.get(key);
    if (ownNames === undefined || !ownNames.has(name)) return undefined;
    let done = 0;
    for (const other of ownNames.keys()) if (other === name || ++done >= MOST_COUNTED) break;
    return { done, ...(ownNames.size <= MOST_COUNTED && { of: ownNames.size }) };
  }

  /** Sleeps for `ms`, or until a name is added. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const awake = new AbortController();
    const release = onAbort(signal, () => awake.abort());
    this.#added = () => awake.abort();
    await this.clock.sleep(ms, awake.signal).catch(() => {});
    this.#added = () => {};
    release();
  }
}

/** Returns the ms until the first name is due; negative if it is overdue. */
function measureLeft(waiting: Map<string, number>, now: number): number {
  const [first = now] = waiting.values();
  return first - now;
}
