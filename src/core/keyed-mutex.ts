/** Runs tasks of the same name one after another, and tasks of different names concurrently. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `task` after all earlier tasks of that name have ended, even with an error. Returns or throws what `task` does. */
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
