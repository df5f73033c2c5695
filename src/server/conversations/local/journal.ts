import { constants, promises as fs } from "node:fs";
import { dirname } from "node:path";
import { ignoreMissing, openRegularFile, syncFolder } from "../../../core/files/server-files.js";
import { describeError } from "../../../core/text/phrases.js";
import type { Log } from "../../monitoring/log.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversation-store.js";
import { type Entry, formatEntry, parseEntry } from "./journal-entries.js";

/** Where entries go before anything is acknowledged. */
export interface Journal {
  /**
   * Writes entries that are there together or not at all after a crash. Calls `apply` as soon as they would outlive a
   * `kill -9`, before any later write: what others can see changes there and nowhere else, so that it is never ahead
   * of the journal, or in another order. Rejects with a StoreUnavailableError or StoreOutcomeUnknownError, nothing applied.
   */
  append(entries: readonly Entry[], apply: () => void): Promise<void>;
  /** Rejects with a StoreUnavailableError if nothing can be written just now. */
  check(): Promise<void>;
}

/** Of a service that lives in memory only. */
export const memoryJournal: Journal = {
  append: async (_, apply) => apply(),
  check: async () => {},
};

/** A shorter journal is not worth compacting, bytes; a longer one is compacted when it has doubled. */
const SMALLEST_COMPACTED = 65_536;
const GROWTH = 2;
/** Lines are read and compacted together up to this many characters. */
const PIECE_LENGTH = 1_048_576;
/** A longer line is skipped: a body of 1 MiB takes six times as much if all of it is escaped. */
const LONGEST_LINE = 16 * 1_048_576;

interface WaitingWrite {
  entries: readonly Entry[];
  apply: () => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A file of JSON Lines, mode 0600. Appends and syncs; entries that arrive during one sync share the next. */
export class FileJournal implements Journal {
  #waiting: WaitingWrite[] = [];
  #writing: Promise<void> | undefined;
  #size = 0;
  #compactAt = SMALLEST_COMPACTED;
  /** Whether the last line has no end: the next one must not continue it. */
  #torn = false;
  private constructor(
    private readonly path: string,
    private handle: fs.FileHandle,
    /** What a compacted journal holds; asked between two writes. */
    private readonly kept: () => Iterable<Entry>,
    private readonly log: Log,
  ) {}

  /** Opens a journal, or makes an empty one, and hands each entry in it to `visit`. Compacts it if that halves it. */
  static async open(
    path: string,
    visit: (entry: Entry) => void,
    kept: () => Iterable<Entry>,
    log: Log,
  ): Promise<FileJournal> {
    await fs.rm(draftOf(path), { force: true });
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
    // Not in a later turn: an entry that arrived in between would wait for ever.
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
      // What is answered with an error must not come to life after a restart.
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

  /** A folder that was removed or replaced takes writes to its old files without an error. */
  async #checkInPlace(): Promise<void> {
    const [opened, named] = await Promise.all([this.handle.stat(), fs.stat(this.path)]);
    if (opened.ino !== named.ino || opened.dev !== named.dev) throw new Error(`${this.path} was replaced`);
  }

  /** Writes what is kept to a new file that takes the place of the old one. A failure leaves the old one as it is. */
  async #compact(): Promise<void> {
    const draft = draftOf(this.path);
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

/** Hands each entry of a journal to `visit` while its service may write it; nothing if there is none. */
export async function readJournal(path: string, visit: (entry: Entry) => void): Promise<void> {
  const handle = await fs.open(path, "r").catch(ignoreMissing);
  await (handle && readEntries(handle, visit).finally(() => handle.close()));
}

/** U+2028 may stand in a line, so that Node's own `readLines` is of no use. */
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
    // Of a line that is too long so much is kept that it is known to be.
    rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
    lines.forEach(take);
  }
  take(rest);
  return { rest, skipped };
}

/** The lines of entries, many at a time. */
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

function draftOf(path: string): string {
  return `${path}.new`;
}
