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
