import { constants, promises as fs } from "node:fs";
import { dirname } from "node:path";
import { ignoreMissing, openRegularFile, syncFolder } from "../../../core/files/async-file-access.js";
import { describeError } from "../../../core/text/format-text.js";
import type { Log } from "../../monitoring/operator-log.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversation-store.js";
import { formatJournalEntry, type JournalEntry, parseJournalEntry } from "./journal-entries.js";

/** A log to which entries are written before anything is acknowledged. */
export interface Journal {
  /**
   * Writes entries, all or none of which survive a crash. Calls `apply` once they would survive a `kill -9`, and before
   * any later write. Only `apply` changes what callers see, so the state is never ahead of the journal or in another
   * order. Rejects, without calling `apply`, with a StoreUnavailableError or StoreOutcomeUnknownError.
   */
  append(entries: readonly JournalEntry[], apply: () => void): Promise<void>;
  /** Rejects with a StoreUnavailableError if the journal cannot be written now. */
  check(): Promise<void>;
}

/** The journal of a service without a data folder. It writes nothing. */
export const memoryJournal: Journal = {
  append: async (_, apply) => apply(),
  check: async () => {},
};

/** Minimum size for compaction, in bytes. A larger journal is compacted when its size has doubled. */
const SMALLEST_COMPACTED = 65_536;
const GROWTH = 2;
/** Maximum number of characters that are read or written at a time. */
const PIECE_LENGTH = 1_048_576;
/** Maximum length of a line in characters; a longer one is skipped. A fully escaped body of 1 MiB has six times as many. */
const LONGEST_LINE = 16 * 1_048_576;

interface WaitingWrite {
  entries: readonly JournalEntry[];
  apply: () => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Keeps the journal in a file of JSON Lines, mode 0600, and syncs each write. Entries that arrive during a sync share the next one. */
export class FileJournal implements Journal {
  #waiting: WaitingWrite[] = [];
  #writing: Promise<void> | undefined;
  #size = 0;
  #compactAt = SMALLEST_COMPACTED;
  /** Whether the last line is incomplete. The next write must then begin with a line break. */
  #torn = false;
  private constructor(
    private readonly path: string,
    private handle: fs.FileHandle,
    /** Returns the entries of a compacted journal. Called only between two writes. */
    private readonly kept: () => Iterable<JournalEntry>,
    private readonly log: Log,
  ) {}

  /** Opens or creates a journal and passes each entry to `visit`. Compacts the file if that at least halves it. */
  static async open(
    path: string,
    visit: (entry: JournalEntry) => void,
    kept: () => Iterable<JournalEntry>,
    log: Log,
  ): Promise<FileJournal> {
    await fs.rm(buildDraftName(path), { force: true });
    const handle = await openRegularFile(path, constants.O_CREAT);
    try {
      const journal = new FileJournal(path, handle, kept, log);
      await journal.#read(visit);
      await syncFolder(dirname(path));
      if (journal.#size >= SMALLEST_COMPACTED) {
        let bytes = 0;
        for (const entry of kept()) bytes += Buffer.byteLength(formatJournalEntry(entry));
        journal.#setCompactAt(bytes);
        if (journal.#size >= journal.#compactAt) await journal.#compact();
      }
      return journal;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  append(entries: readonly JournalEntry[], apply: () => void): Promise<void> {
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

  async #read(visit: (entry: JournalEntry) => void): Promise<void> {
    const { rest, skipped } = await visitEntries(this.handle, visit);
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
    // Reset this at once: if it were reset in a later turn, an entry that arrives in between would wait for ever.
    this.#writing = undefined;
  }

  async #write(batch: readonly WaitingWrite[]): Promise<void> {
    const lines = batch.flatMap(({ entries }) => entries.map(formatJournalEntry));
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

  /** Throws if the file was removed or replaced, because writes to such a file do not fail. */
  async #checkInPlace(): Promise<void> {
    const [opened, named] = await Promise.all([this.handle.stat(), fs.stat(this.path)]);
    if (opened.ino !== named.ino || opened.dev !== named.dev) throw new Error(`${this.path} was replaced`);
  }

  /** Replaces the file with a compacted one. If that fails, logs it and keeps the old file. */
  async #compact(): Promise<void> {
    const draft = buildDraftName(this.path);
    let handle: fs.FileHandle | undefined;
    try {
      handle = await openRegularFile(draft, constants.O_CREAT | constants.O_TRUNC);
      for (const piece of formatInPieces(this.kept())) await handle.appendFile(piece);
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

/** Passes each entry of a journal to `visit`, even while a service writes it. Does nothing if the file does not exist. */
export async function readJournal(path: string, visit: (entry: JournalEntry) => void): Promise<void> {
  const handle = await fs.open(path, "r").catch(ignoreMissing);
  await (handle && visitEntries(handle, visit).finally(() => handle.close()));
}

/** Passes each entry to `visit`. Splits lines itself, because Node's `readLines` also splits at U+2028, which a line may contain. */
async function visitEntries(handle: fs.FileHandle, visit: (entry: JournalEntry) => void) {
  let [rest, skipped] = ["", 0];
  const take = (line: string) => {
    const text = line.trim();
    const entry = line.length < LONGEST_LINE ? parseJournalEntry(text) : undefined;
    if (entry !== undefined) visit(entry);
    else if (text !== "") skipped += 1;
  };
  const options = { encoding: "utf8", highWaterMark: PIECE_LENGTH, start: 0, autoClose: false } as const;
  for await (const piece of handle.createReadStream(options)) {
    const lines = (rest + piece).split("\n");
    // Keep enough of an overlong line to recognize that it is too long.
    rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
    lines.forEach(take);
  }
  take(rest);
  return { rest, skipped };
}

/** Formats entries in pieces of many lines. */
function* formatInPieces(entries: Iterable<JournalEntry>): Generator<string> {
  let piece = "";
  for (const entry of entries) {
    piece += formatJournalEntry(entry);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function buildDraftName(path: string): string {
  return `${path}.new`;
}
