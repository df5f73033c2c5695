import type { Watched, WatchSource, WatchTarget } from "./types.js";

/** The ids to watch: all at once, or from a source that yields more while the watch runs. */
export class TargetQueue {
  #isOpen = false;
  #failure: { error: unknown } | undefined;

  /** Whether the source may yield more. Throws what the source threw. */
  get isOpen(): boolean {
    if (this.#failure) throw this.#failure.error;
    return this.#isOpen;
  }

  /** Calls `add` for each id, and `onChange` after each one that came later and at the end of the source. */
  read(source: WatchSource, add: (target: WatchTarget) => void, onChange: () => void): void {
    if (typeof source === "string") add(toTarget(source));
    else if (Symbol.iterator in source) for (const target of source) add(toTarget(target));
    else {
      this.#isOpen = true;
      void this.#pull(source, add, onChange);
    }
  }

  async #pull(
    source: AsyncIterable<WatchTarget | string>,
    add: (target: WatchTarget) => void,
    onChange: () => void,
  ) {
    try {
      for await (const target of source) {
        add(toTarget(target));
        onChange();
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#isOpen = false;
    onChange();
  }
}

function toTarget(target: WatchTarget | string): WatchTarget {
  return typeof target === "string" ? { requestId: target } : target;
}

/** The state of an id before its first poll; `now` is monotonic milliseconds. */
export function newlyWatched(target: WatchTarget, now: number): Watched {
  const polled = { polls: 0, failures: 0, startedAt: Number.NEGATIVE_INFINITY, hadLastPoll: false };
  return { ...target, ...polled, status: null, isQueued: true, since: now, quietSince: now, notBefore: 0 };
}
