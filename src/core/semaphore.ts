import { onAbort } from "./clock.js";

/** Limits how many callers run at the same time. Waiting callers get a place in the order in which they came. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();

  constructor(private freePlaces: number) {}

  /** Waits for a place. Resolves with the function that releases it; rejects with `signal.reason` on an abort. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.freePlaces > 0) this.freePlaces -= 1;
    else await this.#wait(signal);
    return this.#releaseOnce();
  }

  /** Takes a place at once, even if all are taken; waiting callers then wait longer. Returns the function that releases it. */
  acquireImmediately(): () => void {
    this.freePlaces -= 1;
    return this.#releaseOnce();
  }

  #releaseOnce(): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack();
      isHeld = false;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        this.#waiting.delete(proceed);
        release();
        resolve();
      };
      const release = onAbort(signal, () => {
        this.#waiting.delete(proceed);
        reject(signal.reason);
      });
      this.#waiting.add(proceed);
    });
  }

  #giveBack(): void {
    const [proceed] = this.#waiting;
    if (proceed && this.freePlaces >= 0) proceed();
    else this.freePlaces += 1;
  }
}
