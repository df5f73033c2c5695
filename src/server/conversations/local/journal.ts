import { constants, promises as fs } from "node:fs";
import { dirname } from "node:path";
import { ignoreMissing, openRegularFile, syncFolder } from "../../../core/files/server-files.js";
import { describeError } from "../../../core/text/phrases.js";
import type { Log } from "../../monitoring/log.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversation-store.js";
import { type Entry, formatEntry, parseEntry } from "./journal-entries.js";

/** The log of entries that is written before anything is acknowledged. */
export interface Journal {
  /**
   * Writes entries, all or none of which survive a crash. Calls `apply` once they would survive a `kill -9` and before
   * any later write. Visible state changes only there, so that it is never ahead of the journal or in another order.
   * Rejects with a StoreUnavailableError or StoreOutcomeUnknownError, and applies nothing then.
   */
  append(entries: readonly Entry[], apply: () => void): Promise<void>;
  /** Rejects with a StoreUnavailableError if the journal cannot be written now. */
  check(): Promise<void>;
}

/** The journal of a service without a data folder. */
export const memoryJournal: Journal = {
  append: async (_, apply) => apply(),
  check: async () => {},
};

/** The least size for compaction, bytes. A larger journal is compacted when it has doubled. */
const SMALLEST_COMPACTED = 65_536;
const GROWTH = 2;
/** The most characters of lines that are read and compacted together. */
const PIECE_LENGTH = 1_048_576;
/** A longer line is skipped, characters. A fully escaped body of 1 MiB takes six times as much. */
const LONGEST_LINE = 16 * 1_048_576;

interface WaitingWrite {
  entries: readonly Entry[];
  apply: () => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A file of JSON Lines, mode 0600. Appends and syncs; entries that arrive during a sync share the next one. */
export class FileJournal implements Journal {
  #waiting: WaitingWrite[] = [];
  #writing: Promise<void> | undefined;
  #size = 0;
  #compactAt = SMALLEST_COMPACTED;
  /** Whether the last line is cut off, so that the next one must not continue it. */
  #torn = false;
  private constructor(
    private readonly path: string,
    private handle: fs.FileHandle,
    /** Yields the entries of a compacted journal; called between two writes. */
    private readonly kept: () => Iterable<Entry>,
    private readonly log: Log,
  ) {}

  /** Opens or creates a journal and passes each entry to `visit`. Compacts the file if that halves it. */
  static async open(
    path: string,
    visit: (entry: Entry) => void,
    kept: () => Iterable<Entry>,
    log: Log,
  ): Promise<FileJournal> {
    await fs.rm(nameDraft(path), { force: true });
    const handle = await openRegularFile(path, constants.O_CREAT);
    try {
      const journal = new FileJournal(path, handle, kept, log);
      await journal.#read(visit);
      await syncFolder(dirname(path));
      if (journal.#size >= SMALLEST_COMPACTED) {
        let bytes = 0;
        for (const entry of kept()) bytes += Buffer.byteLength(formatEntry(entry));
        journal.#setCompactAt(bytes);
        if (journal.#size >= journal.#compactAt) await journal.#compact();
      }
      return journal;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  append(entries: readonly Entry[], apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, apply, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async check(): Promise<void> {
    try {
      await this.#checkInPlace();
    } catch (error) {
      throw new StoreUnavailableError(`The journal cannot be written: ${describeError(error)}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.handle.close();
  }

  async #read(visit: (entry: Entry) => void): Promise<void> {
    const { rest, skipped } = await readEntries(this.handle, visit);
    this.#torn = rest !== "";
    this.#size = (await this.handle.stat()).size;
    if (skipped > 0) this.log(`${skipped} unreadable lines of the journal were skipped`);
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      if (this.#size >= this.#compactAt) await this.#compact();
      const batch = this.#waiting;
      if (batch.length === 0) break;
      this.#waiting = [];
      try {
        await this.#write(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Not in a later turn, because an entry that arrives in between would wait for ever.
    this.#writing = undefined;
  }

  async #write(batch: readonly WaitingWrite[]): Promise<void> {
    const lines = batch.flatMap(({ entries }) => entries.map(formatEntry));
    const bytes = Buffer.from(`${this.#torn ? "\n" : ""}${lines.join("")}`);
    try {
      if (this.#torn) this.#size = (await this.handle.stat()).size;
      await this.handle.appendFile(bytes);
      await this.handle.datasync();
      await this.#checkInPlace();
    } catch (cause) {
      // An entry whose write was answered with an error must not reappear after a restart.
      const undone = await this.handle.truncate(this.#size).then(
        () => true,
        () => false,
      );
      this.#torn ||= !undone;
      const ErrorClass = undone ? StoreUnavailableError : StoreOutcomeUnknownError;
      throw new ErrorClass(`The journal could not be written: ${describeError(cause)}`, { cause });
    }
    this.#torn = false;
    this.#size += bytes.length;
    for (const { apply } of batch) apply();
  }

  /** Checks the folder, because writes to files of a removed or replaced folder do not fail. */
  async #checkInPlace(): Promise<void> {
    const [opened, named] = await Promise.all([this.handle.stat(), fs.stat(this.path)]);
    if (opened.ino !== named.ino || opened.dev !== named.dev) throw new Error(`${this.path} was replaced`);
  }

  /** Replaces the file with a compacted one. After a failure the old file is unchanged. */
  async #compact(): Promise<void> {
    const draft = nameDraft(this.path);
    let handle: fs.FileHandle | undefined;
    try {
      handle = await openRegularFile(draft, constants.O_CREAT | constants.O_TRUNC);
      for (const piece of splitIntoPieces(this.kept())) await handle.appendFile(piece);
      await handle.sync();
      const { size } = await handle.stat();
      await fs.rename(draft, this.path);
      const old = this.handle;
      this.handle = handle;
      this.#torn = false;
      this.#size = size;
      await old.close().catch(() => {});
      await syncFolder(dirname(this.path));
    } catch (error) {
      this.log(`the journal could not be compacted: ${describeError(error)}`);
      if (this.handle !== handle) await handle?.close().catch(() => {});
    }
    this.#setCompactAt(this.#size);
  }

  #setCompactAt(bytes: number): void {
    this.#compactAt = Math.max(SMALLEST_COMPACTED, bytes * GROWTH);
  }
}

/** Passes each entry to `visit`, even while a service writes the journal; does nothing without a journal. */
export async function readJournal(path: string, visit: (entry: Entry) => void): Promise<void> {
  const handle = await fs.open(path, "r").catch(ignoreMissing);
  await (handle && readEntries(handle, visit).finally(() => handle.close()));
}

/** Splits lines. Node's `readLines` does not serve, because it also splits at U+2028, which a line may contain. */
async function readEntries(handle: fs.FileHandle, visit: (entry: Entry) => void) {
  let [rest, skipped] = ["", 0];
  const take = (line: string) => {
    const text = line.trim();
    const entry = line.length < LONGEST_LINE ? parseEntry(text) : undefined;
    if (entry !== undefined) visit(entry);
    else if (text !== "") skipped += 1;
  };
  const options = { encoding: "utf8", highWaterMark: PIECE_LENGTH, start: 0, autoClose: false } as const;
  for await (const piece of handle.createReadStream(options)) {
    const lines = (rest + piece).split("\n");
    // Keeps enough of an overlong line to recognize it.
    rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
    lines.forEach(take);
  }
  take(rest);
  return { rest, skipped };
}

/** Serializes entries, many at a time. */
function* splitIntoPieces(entries: Iterable<Entry>): Generator<string> {
  let piece = "";
  for (const entry of entries) {
    piece += formatEntry(entry);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function nameDraft(path: string): string {
  return `${path}.new`;
}
