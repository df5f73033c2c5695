import { onAbort } from "./clock.js";

/** Limits how many callers run at a time. Callers that wait get a place in the order in which they came. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();

  constructor(private freePlaces: number) {}

  /** Waits for a place. Resolves with the function that gives the place back; rejects with `signal.reason` on an abort. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.freePlaces > 0) this.freePlaces -= 1;
    else await this.#wait(signal);
    return this.#releaseOnce();
  }

  /** Takes a place at once, even if every place is taken; callers that wait then wait longer. */
  takeNow(): () => void {
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

/** Runs tasks of the same name one after another, and tasks of different names at the same time. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `task` after all earlier tasks of that name, whether they succeeded or failed; passes on its result or error. */
  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const running = before === undefined ? task() : before.then(task, task);
    this.#last.set(name, running);
    try {
      return await running;
    } finally {
      if (this.#last.get(name) === running) this.#last.delete(name);
    }
  }
}
