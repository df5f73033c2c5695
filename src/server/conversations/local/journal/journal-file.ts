import { constants, promises as fs } from "node:fs";
import { dirname } from "node:path";
import { errorText } from "../../../../text/phrases.js";
import { syncFolder } from "../../../folders.js";
import type { Log } from "../../../monitoring/log.js";
import { openRegularFile } from "../../../regular-file.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../../conversation-store.js";
import { type Kept, writeKept } from "./compaction.js";
import { type Entry, lineOf, parseEntry } from "./entries.js";
import type { Journal, Line, Write } from "./journal.js";
import { readLines } from "./journal-reader.js";

/** A shorter journal is not worth compacting, bytes. */
const SMALLEST_COMPACTED = 65_536;
interface Waiting {
  write: Write;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface Waiting {
  write: Write;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A file of JSON Lines, mode 0600. Appends and syncs; entries that arrive during one sync share the next. */
export class FileJournal implements Journal {
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #dead = 0;
  #compactAt = SMALLEST_COMPACTED;
  private constructor(
    private readonly path: string,
    private handle: fs.FileHandle,
    private size: number,
    /** Whether the last line has no end: the next one must not continue it. */
    private torn: boolean,
    /** Names what a compacted journal holds; asked between two writes. */
    private readonly kept: () => Iterable<Kept>,
    private readonly log: Log,
  ) {}

  /** Opens a journal, or makes an empty one, and hands each entry in it to `visit`. */
  static async open(
    path: string,
    visit: (entry: Entry, line: Line) => void,
    kept: () => Iterable<Kept>,
    log: Log,
  ): Promise<FileJournal> {
    await fs.rm(draftOf(path), { force: true });
    const handle = await openRegularFile(path, constants.O_CREAT);
    try {
      const { size, skipped, torn } = await readLines(handle, (text, line) => {
        const entry = parseEntry(text);
        if (entry !== undefined) visit(entry, line);
        return entry !== undefined;
      });
      if (skipped > 0) log(`${skipped} unreadable lines of the journal were skipped`);
      await syncFolder(dirname(path));
      return new FileJournal(path, handle, size, torn, kept, log);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  append(write: Write): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async read(line: Line): Promise<Entry> {
    const entry = parseEntry((await this.#bytesOf(line)).toString("utf8"));
    if (entry === undefined) throw new Error(`${this.path} was changed at byte ${line.offset}`);
    return entry;
  }

  release(_: Line, deadBytes: number): void {
    this.#dead += deadBytes;
  }

  /** Compacts the journal if more than half of it is dead. */
  async compactIfDue(): Promise<void> {
    if (this.#isDue()) {
      this.#writing ??= this.#writeAll();
      await this.#writing;
    }
  }

  async check(): Promise<void> {
    try {
      await this.#checkInPlace();
    } catch (error) {
      throw new StoreUnavailableError(`The journal cannot be written: ${errorText(error)}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.handle.close();
  }

  #isDue(): boolean {
    return this.size >= this.#compactAt && this.#dead > this.size / 2;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      if (this.#isDue()) await this.#compact();
      const batch = this.#waiting;
      if (batch.length === 0) break;
      this.#waiting = [];
      try {
        await this.#write(batch.map(({ write }) => write));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Not in a later turn: an entry that arrived in between would wait for ever.
    this.#writing = undefined;
  }

  async #write(writes: readonly Write[]): Promise<void> {
    const buffers = writes.map(({ entries }) => entries.map(lineOf));
    const bytes = Buffer.concat([Buffer.from(this.torn ? "\n" : ""), ...buffers.flat()]);
    try {
      if (this.torn) this.size = (await this.handle.stat()).size;
      await this.handle.appendFile(bytes);
      await this.handle.datasync();
      await this.#checkInPlace();
    } catch (error) {
      // What is answered with an error must not come to life after a restart.
      const undone = await this.handle.truncate(this.size).then(
        () => true,
        () => false,
      );
      this.torn ||= !undone;
      const message = `The journal could not be written: ${errorText(error)}`;
      throw undone
        ? new StoreUnavailableError(message, { cause: error })
        : new StoreOutcomeUnknownError(message, { cause: error });
    }
    let offset = this.size + (this.torn ? 1 : 0);
    this.torn = false;
    this.size += bytes.length;
    for (const [index, write] of writes.entries()) {
      const lines: Line[] = [];
      for (const { length } of buffers[index] ?? []) {
        lines.push({ offset, length });
        offset += length;
      }
      write.apply(lines);
    }
  }

  /** A folder that was removed or replaced takes writes to its old files without an error. */
  async #checkInPlace(): Promise<void> {
    const [own, named] = await Promise.all([this.handle.stat(), fs.stat(this.path)]);
    if (own.ino !== named.ino || own.dev !== named.dev) throw new Error(`${this.path} was replaced`);
  }

  /** Writes what is kept to a new file that takes the place of the old one. A failure leaves the old one as it is. */
  async #compact(): Promise<void> {
    const before = this.size;
    const draft = draftOf(this.path);
    let handle: fs.FileHandle | undefined;
    try {
      handle = await openRegularFile(draft, constants.O_CREAT | constants.O_TRUNC);
      const places = await writeKept(handle, this.kept(), (line) => this.#bytesOf(line));
      await handle.sync();
      await fs.rename(draft, this.path);
      const old = this.handle;
      // All at once: a reader takes a line's place and the file together.
      this.handle = handle;
      this.torn = false;
      this.#dead = 0;
      this.size = 0;
      for (const { moved, line } of places) {
        moved?.(line);
        this.size = line.offset + line.length;
      }
      await old.close().catch(() => {});
      await syncFolder(dirname(this.path));
    } catch (error) {
      this.log(`the journal could not be compacted: ${errorText(error)}`);
      if (this.handle !== handle) await handle?.close().catch(() => {});
    }
    this.#compactAt = Math.max(SMALLEST_COMPACTED, (this.size < before ? this.size : before) * 1.5);
  }

  async #bytesOf({ offset, length }: Line): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await this.handle.read(bytes, 0, length, offset);
    if (bytesRead < length) throw new Error(`${this.path} is shorter than it was`);
    return bytes;
  }
}

function draftOf(path: string): string {
  return `${path}.new`;
}
