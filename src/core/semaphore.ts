import { onAbort } from "./clock.js";

/** A number of places that callers take and give back; who waits first is served first. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();

  constructor(private free: number) {}

  /** Resolves with the function that gives the place back; rejects with `signal.reason` on an abort. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.free > 0) this.free -= 1;
    else await this.#wait(signal);
    return this.#releaseOnce();
  }

  /** Takes a place also if none is free: those who wait get the next ones that are. */
  takeNow(): () => void {
    this.free -= 1;
    return this.#releaseOnce();
  }

  #releaseOnce(): () => void {
    let held = true;
    return () => {
      if (held) this.#giveBack();
      held = false;
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
    if (proceed && this.free >= 0) proceed();
    else this.free += 1;
  }
}

/** Runs tasks of the same name one after another, and those of different names side by side. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `task` when all earlier ones of that name are over, however they ended; passes on its result or error. */
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
