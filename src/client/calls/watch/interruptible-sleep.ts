import { type Clock, onAbort } from "../../../core/clock.js";

/** The abort reason of a timer. One object for all, because creating an error takes longer than a poll should. */
const OVER = new Error("the sleep is over");

/** A sleep that can be interrupted. Supports one sleep at a time. */
export class InterruptibleSleep {
  readonly #release: () => void;
  #pending: { resolve: (early: boolean) => void; reject: (error: unknown) => void } | undefined;
  /** Whether `interrupt` was called while no sleep was running; the next sleep then ends at once. */
  #isInterrupted = false;
  #timer: { at: number; off: AbortController } | undefined;

  /** Aborting `signal` interrupts the sleep. It also ends the timer, because the caller may never sleep again. */
  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#release = onAbort(signal, () => {
      this.interrupt();
      this.#timer?.off.abort(OVER);
    });
  }

  readonly interrupt = (): void => {
    this.#isInterrupted = true;
    this.#pending?.resolve(false);
  };

  /** Sleeps until `at` (monotonic ms, or Infinity) or an interruption. Resolves with true if the timer fired early, as after a suspend. */
  async sleepUntil(at: number): Promise<boolean> {
    try {
      if (this.#isInterrupted || this.signal?.aborted) return false;
      return await new Promise<boolean>((resolve, reject) => {
        this.#pending = { resolve, reject };
        this.#startTimer(at);
      });
    } finally {
      this.#pending = undefined;
      this.#isInterrupted = false;
    }
  }

  /** Removes the abort listener and ends the timer. */
  dispose(): void {
    this.#release();
    this.#timer?.off.abort(OVER);
    this.#timer = undefined;
  }

  /** Starts a timer unless one that fires sooner is running: waking up in vain costs less than a timer for each sleep. */
  #startTimer(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.off.abort(OVER);
    const timer = { at, off: new AbortController() };
    this.#timer = timer;
    void this.#runTimer(timer);
  }

  async #runTimer(timer: { at: number; off: AbortController }): Promise<void> {
    try {
      await this.clock.sleep(Math.max(timer.at - this.clock.monotonic(), 0), timer.off.signal);
      if (this.#timer === timer) this.#pending?.resolve(this.clock.monotonic() < timer.at);
    } catch (error) {
      if (this.#timer === timer) this.#pending?.reject(error);
    }
    if (this.#timer === timer) this.#timer = undefined;
  }
}
