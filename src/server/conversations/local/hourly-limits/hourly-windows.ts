import { type HourlyLimit, WINDOW_MS } from "../../../../protocol/limits.js";
import { RollingWindow } from "./rolling-window.js";

type Operation = keyof HourlyLimit;
export interface Count {
  operation: Operation;
  key: string;
  /** Epoch ms. */
  at: number;
}

/**
 * §8: the requests of the last hour, by key and operation. The window rolls. A create counts when it is accepted; a
 * stop counts whatever it finds, for its column (20 for 10 creates) could never be reached otherwise.
 */
export class HourlyWindows {
  readonly #windows = new Map<string, RollingWindow>();

  /** Counts a request at `now`, or says how long it has to wait, ms. */
  take(operation: Operation, key: string, limit: number, now: number): { retryAfterMs: number } | undefined {
    if (limit === Number.POSITIVE_INFINITY) return undefined;
    const window = this.#window(operation, key);
    const times = window.current(now);
    if (times.length < limit) {
      window.add(now);
      return undefined;
    }
    const leaves = times[times.length - limit];
    return { retryAfterMs: (leaves ?? now) + WINDOW_MS - now };
  }

  /** Counts a request as it was written. */
  restore({ operation, key, at }: Count, now: number): void {
    if (at > now - WINDOW_MS) this.#window(operation, key).add(at);
  }

  /** Takes back a request of time `at` that was not carried out. */
  release({ operation, key, at }: Count): void {
    this.#window(operation, key).remove(at);
  }

  /** All that counts at `now`. */
  *counts(now: number): Generator<Count> {
    for (const [name, window] of this.#windows) {
      const [operation, key] = name.split(" ") as [Operation, string];
      for (const at of window.current(now)) yield { operation, key, at };
    }
  }

  #window(operation: Operation, key: string): RollingWindow {
    const name = `${operation} ${key}`;
    let window = this.#windows.get(name);
    if (window === undefined) {
      window = new RollingWindow();
      this.#windows.set(name, window);
    }
    return window;
  }
}
