import type { Entry } from "./entries.js";

/** Where a line stands in the journal, in bytes. */
export interface Line {
  offset: number;
  length: number;
}

/** One write: entries that are there together or not at all after a crash of this process. */
export interface Write {
  entries: readonly Entry[];
  /**
   * Called as soon as the entries would outlive a `kill -9`, with the place of each, before any later write. What
   * others can see changes here and nowhere else, so that it is never ahead of the journal, or in another order.
   */
  apply(lines: readonly Line[]): void;
}

/** Where entries go before anything is acknowledged. */
export interface Journal {
  /** Resolves after `apply`; rejects with a StoreUnavailableError or StoreOutcomeUnknownError, nothing applied. */
  append(write: Write): Promise<void>;
  /** Reads an entry back. */
  read(line: Line): Promise<Entry>;
  /** Says that a line is never read again, and how many bytes are dead now, those of other lines included. */
  release(line: Line, deadBytes: number): void;
  /** Rejects with a StoreUnavailableError if nothing can be written just now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The journal of a service that lives in memory only: it holds what is still to be read. */
export class MemoryJournal implements Journal {
  readonly #entries = new Map<number, Entry>();
  #next = 0;

  async append({ entries, apply }: Write): Promise<void> {
    apply(
      entries.map((entry) => {
        const offset = this.#next++;
        if (entry.kind === "created") this.#entries.set(offset, entry);
        return { offset, length: 0 };
      }),
    );
  }

  async read({ offset }: Line): Promise<Entry> {
    const entry = this.#entries.get(offset);
    if (entry === undefined) throw new Error(`the journal has no entry ${offset}`);
    return entry;
  }

  release({ offset }: Line): void {
    this.#entries.delete(offset);
  }

  async check(): Promise<void> {}

  async close(): Promise<void> {}
}
