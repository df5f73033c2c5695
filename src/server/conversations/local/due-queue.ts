import { type Clock, onAbort } from "../../../core/clock.js";
import { MOST_COUNTED } from "../conversation-store.js";

/** The interval at which a closed queue is checked again, ms. */
const LOOK_MS = 500;
/** A wait that only an added name ends. */
const NEVER_MS = 2 ** 52;

/** Queues names by due time; keys with due names take turns. Thousands may wait for an hour. */
export class DueQueue {
  /** Due times (monotonic ms) by name, by key; the key whose turn it is comes first, and so does the earliest name. */
  readonly #keys = new Map<string, Map<string, number>>();
  #added = () => {};
  constructor(private readonly clock: Clock) {}

  get size(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.countOf(key), 0);
  }

  countOf(key: string): number {
    return this.#keys.get(key)?.size ?? 0;
  }

  /** The names of a key in their order. */
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

  /** How long the first name has been due, ms; 0 if none is due. */
  measureOverdue(): number {
    return Math.max(
      0,
      ...[...this.#keys.values()].map((waiting) => -measureLeft(waiting, this.clock.monotonic())),
    );
  }

  /** Returns the next due name, round-robin over keys; waits while `closedMs` is above 0. Single caller; rejects with `signal.reason`. */
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

  /** Removes the first name of a key, and moves the key behind all others. */
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

  /** Wakes the waiting caller, because a key may begin more than before. */
  look(): void {
    this.#added();
  }

  /** Counts the names of its key ahead of a name, up to a limit; undefined if the name is not queued. */
  placeOf(key: string, name: string): { done: number; of?: number } | undefined {
    const ownNames = this.#keys.get(key);
    if (ownNames === undefined || !ownNames.has(name)) return undefined;
    let done = 0;
    for (const other of ownNames.keys()) if (other === name || ++done >= MOST_COUNTED) break;
    return { done, ...(ownNames.size <= MOST_COUNTED && { of: ownNames.size }) };
  }

  /** Sleeps until a name is due or one is added. */
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
