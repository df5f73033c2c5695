import type { Clock } from "../../clock.js";

/** A sleep that something else can end. One at a time. */
export class Waker {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #sleeper: { resolve: (early: boolean) => void; reject: (error: unknown) => void } | undefined;
  /** Woken while nobody slept: the next sleep does not begin. */
  #isAwake = false;
  #alarm: { at: number; off: AbortController } | undefined;

  /** Aborting `signal` wakes, and does nothing else. */
  constructor(clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
    signal?.addEventListener("abort", this.wake, { once: true });
  }

  readonly wake = (): void => {
    this.#isAwake = true;
    this.#sleeper?.resolve(false);
  };

  /**
   * Sleeps until `at` (monotonic milliseconds; Infinity for until woken), or less long. Resolves to true where
   * the clock itself ended the sleep too early: the machine was suspended. Rejects where the clock fails.
   */
  async sleepUntil(at: number): Promise<boolean> {
    try {
      if (this.#isAwake || this.#signal?.aborted) return false;
      const roused = new Promise<boolean>((resolve, reject) => {
        this.#sleeper = { resolve, reject };
      });
      this.#setAlarm(at);
      return await roused;
    } finally {
      this.#sleeper = undefined;
      this.#isAwake = false;
    }
  }

  /** Gives the signal back, and leaves no timer behind. */
  end(): void {
    this.#signal?.removeEventListener("abort", this.wake);
    this.#alarm?.off.abort();
    this.#alarm = undefined;
  }

  /** One that rings sooner stays: to wake for nothing now and then costs less than a timer for each sleep. */
  #setAlarm(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.off.abort();
    const alarm = { at, off: new AbortController() };
    this.#alarm = alarm;
    void this.#ring(alarm);
  }

  async #ring(alarm: { at: number; off: AbortController }): Promise<void> {
    try {
      await this.#clock.sleep(Math.max(alarm.at - this.#clock.monotonic(), 0), alarm.off.signal);
      if (this.#alarm === alarm) this.#sleeper?.resolve(this.#clock.monotonic() < alarm.at);
    } catch (error) {
      if (this.#alarm === alarm) this.#sleeper?.reject(error);
    }
    if (this.#alarm === alarm) this.#alarm = undefined;
  }
}
