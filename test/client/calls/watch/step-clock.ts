import type { Clock } from "../../../../src/core/clock.js";

/**
 * A clock that jumps to the end of a sleep once the microtasks of this turn have run. For what waits for nothing but
 * this clock: no sockets, files or processes.
 */
export class StepClock implements Clock {
  /** Monotonic milliseconds; the wall clock is WALL ahead. */
  time = 1_000;
  /** The next sleep of this many milliseconds ends after half of it: the machine was suspended. */
  suspendIn: number | undefined;
  #sleeps = 0;

  now = (): number => WALL + this.time;
  monotonic = (): number => this.time;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      // A loop without an end is to fail its test, not to hang it.
      if (++this.#sleeps > MOST_SLEEPS) reject(new Error(`more than ${MOST_SLEEPS} sleeps`));
      const isCut = ms === this.suspendIn;
      if (isCut) this.suspendIn = undefined;
      const end = this.time + (isCut ? ms / 2 : ms);
      const timer = setImmediate(() => {
        this.time = Math.max(this.time, end);
        resolve();
      });
      const abort = () => {
        clearImmediate(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
}

const MOST_SLEEPS = 1_000;

/** How far the wall clock of a StepClock is ahead of its monotonic one, in milliseconds. */
export const WALL = Date.UTC(2030, 0, 1);
