import type { Clock } from "../../clock.js";

/** A sleep that can be interrupted. One at a time. */
export class InterruptibleSleep {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #pending: { resolve: (early: boolean) => void; reject: (error: unknown) => void } | undefined;
  /** Interrupted while no sleep was under way: the next one does not begin. */
  #isInterrupted = false;
  #timer: { at: number; off: AbortController } | undefined;

  /** Aborting `signal` interrupts, and ends the timer: the caller may never come back. */
  constructor(clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  readonly #abort = (): void => {
    this.interrupt();
    this.#timer?.off.abort();
  };

  readonly interrupt = (): void => {
    this.#isInterrupted = true;
    this.#pending?.resolve(false);
  };

  /**
   * Sleeps until `at` (monotonic milliseconds; Infinity for until interrupted), or less long. Resolves to true if
   * the clock itself ended the sleep too early: the machine was suspended. Rejects if the clock fails.
   */
  async sleepUntil(at: number): Promise<boolean> {
    try {
      if (this.#isInterrupted || this.#signal?.aborted) return false;
      const slept = new Promise<boolean>((resolve, reject) => {
        this.#pending = { resolve, reject };
      });
      this.#startTimer(at);
      return await slept;
    } finally {
      this.#pending = undefined;
      this.#isInterrupted = false;
    }
  }

  /** Removes the listener and the timer. */
  dispose(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#timer?.off.abort();
    this.#timer = undefined;
  }

  /** A timer that ends sooner stays: a needless wake-up now and then costs less than a timer for each sleep. */
  #startTimer(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.off.abort();
    const timer = { at, off: new AbortController() };
    this.#timer = timer;
    void this.#runTimer(timer);
  }

  async #runTimer(timer: { at: number; off: AbortController }): Promise<void> {
    try {
      await this.#clock.sleep(Math.max(timer.at - this.#clock.monotonic(), 0), timer.off.signal);
      if (this.#timer === timer) this.#pending?.resolve(this.#clock.monotonic() < timer.at);
    } catch (error) {
      if (this.#timer === timer) this.#pending?.reject(error);
    }
    if (this.#timer === timer) this.#timer = undefined;
  }
}
