import type { Watched, WatchSource, WatchTarget } from "./types.js";

/** Ids as they come: all at once, or from somewhere that goes on giving while the watch runs. */
export class Intake {
  #isOpen = false;
  #failure: { error: unknown } | undefined;

  /** Whether more may come. Throws what the source threw. */
  get isOpen(): boolean {
    if (this.#failure) throw this.#failure.error;
    return this.#isOpen;
  }

  /** Calls `add` for each id, and `wake` after each one that came later and at the end of the source. */
  take(source: WatchSource, add: (target: WatchTarget) => void, wake: () => void): void {
    if (!(Symbol.iterator in source)) {
      this.#isOpen = true;
      void this.#pull(source, add, wake);
    } else for (const target of source) add(named(target));
  }

  async #pull(
    source: AsyncIterable<WatchTarget | string>,
    add: (target: WatchTarget) => void,
    wake: () => void,
  ) {
    try {
      for await (const target of source) {
        add(named(target));
        wake();
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#isOpen = false;
    wake();
  }
}

function named(target: WatchTarget | string): WatchTarget {
  return typeof target === "string" ? { requestId: target } : target;
}

/** An id that nothing is known of yet; `now` is monotonic milliseconds. */
export function newlyWatched(target: WatchTarget, now: number): Watched {
  const unseen = { status: null, isQueued: true, polls: 0, failures: 0 };
  return { ...target, ...unseen, since: now, quietSince: now, notBefore: 0 };
}
