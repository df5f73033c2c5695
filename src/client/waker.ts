import type { Clock } from "../clock.js";

/** A sleep that something else can end. */
export class Waker {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #wake: (() => void) | undefined;
  /** Woken while nobody slept: the next sleep does not begin. */
  #isAwake = false;

  /** Aborting `signal` wakes, and does nothing else. */
  constructor(clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
    signal?.addEventListener("abort", this.wake, { once: true });
  }

  readonly wake = (): void => {
    this.#isAwake = true;
    this.#wake?.();
  };

  /**
   * Sleeps until `at` (monotonic milliseconds; Infinity for until woken). Resolves to true where the clock
   * itself ended the sleep before that: the machine was suspended.
   */
  async sleepUntil(at: number): Promise<boolean> {
    const wasAwake = this.#isAwake;
    this.#isAwake = false;
    if (wasAwake || this.#signal?.aborted) return false;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    try {
      if (at === Number.POSITIVE_INFINITY) {
        await woken;
        return false;
      }
      return await this.#sleep(at, woken);
    } finally {
      this.#wake = undefined;
      this.#isAwake = false;
    }
  }

  /** Gives the signal back. */
  end(): void {
    this.#signal?.removeEventListener("abort", this.wake);
  }

  async #sleep(at: number, woken: Promise<void>): Promise<boolean> {
    const sleeping = new AbortController();
    const slept = this.#clock.sleep(Math.max(at - this.#clock.monotonic(), 0), sleeping.signal).then(
      () => this.#clock.monotonic() < at,
      (error) => {
        if (!sleeping.signal.aborted) throw error;
        return false;
      },
    );
    const early = await Promise.race([slept, woken.then(() => false)]);
    sleeping.abort();
    return early;
  }
}
