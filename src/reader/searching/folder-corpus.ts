import { systemClock } from "../../core/clock.js";
import { measureMemory } from "../parsing/blocks/block.js";
import { NEARLY_NO_TEXT } from "../parsing/blocks/read-blocks.js";
import { type CutDocument, createDocumentReader } from "../parsing/documents/document-reader.js";
import { splitTextFile } from "../parsing/documents/split-document.js";
import { findSourceFiles, type SourceFile, type Sources } from "../parsing/files/find-source-files.js";
import { isArchive, readSourceFile } from "../parsing/files/read-file.js";
import { DocumentIndex } from "./document-index.js";
import {
  type Description,
  type Hit,
  listFirstNames,
  listUnreadByReason,
  type Opened,
  type Source,
} from "./source.js";

export interface CorpusOptions {
  /** The absolute path of the folder to search. */
  root: string;
  /** Files and folders that are never read, such as the service's own data. */
  exclude?: readonly string[];
}

/** The state of a file when it was last read. */
interface Version {
  version: string;
  /** Why the file is not searched; undefined if it is. */
  reason?: string;
  /** The approximate memory of the file's blocks, in bytes. */
  memory?: number;
  /** Whether the file contains nearly no text. */
  isBare?: boolean;
}

/** How long to wait before scanning a folder again, ms. */
const FRESH_MS = 1_000;
/** About how many bytes the blocks of all files may take; the heap limit of the index thread is three times as high. */
const MAX_MEMORY = 256 * 1_048_576;
/** The largest text file that is parsed in this thread: whatever it contains, that takes milliseconds and few megabytes. */
const SMALL_BYTES = 131_072;
const NEVER = new AbortController().signal;

/** An index of a folder. Looks for changed files at most once a second. Accepts one call at a time. */
export class Corpus implements Source {
  readonly #index = new DocumentIndex();
  readonly #files = new Map<string, Version>();
  readonly #readDocument = createDocumentReader(systemClock, 1);
  #sources: Sources = { files: [], unread: [] };
  #memory = 0;
  #freshUntil = Number.NEGATIVE_INFINITY;

  /** `notice` is called with a sentence about each part of the folder that is not searched. */
  constructor(
    private readonly options: CorpusOptions,
    private readonly notice: (line: string) => void = () => {},
    private readonly maxMemory = MAX_MEMORY,
  ) {}

  /** Reads new and changed files, and removes deleted ones. */
  async refresh(): Promise<void> {
    if (performance.now() >= this.#freshUntil) await this.#read();
  }

  async search(query: string, limit: number): Promise<Hit[]> {
    await this.refresh();
    return this.#index.search(query, limit);
  }

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    await this.refresh();
    return this.#index.open(id, from, to);
  }

  async describe(): Promise<Description> {
    await this.refresh();
    const { stopped } = this.#sources;
    const notes = [stopped && `Reading ${stopped}.`, this.#describeBare()].flatMap((note) => note || []);
    return { kind: "a folder of documents", ...this.#index.describe(), unread: this.#listUnread(), notes };
  }

  async #read(): Promise<void> {
    this.#sources = await findSourceFiles(this.options.root, this.options.exclude);
    const gone = new Set(this.#files.keys());
    for (const file of this.#sources.files) {
      if (this.#memory > this.maxMemory) {
        this.#sources.stopped = `stopped at ${this.maxMemory / 1_048_576} MiB of memory`;
        break;
      }
      gone.delete(file.name);
      await this.#update(file);
    }
    for (const name of gone) this.#forget(name);
    this.#freshUntil = performance.now() + FRESH_MS;
    const { stopped } = this.#sources;
    if (stopped !== undefined) this.notice(`reading the sources ${stopped}; the rest is not searched`);
    const unread = this.#listUnread();
    if (unread.length > 0) this.notice(`not searched: ${listUnreadByReason(unread)}`);
    const bare = this.#describeBare();
    if (bare !== undefined) this.notice(bare);
  }

  /** Lists the files that contain nearly no text, in a sentence. */
  #describeBare(): string | undefined {
    const names = [...this.#files].flatMap(([name, { isBare }]) => (isBare ? [name] : []));
    return names.length === 0 ? undefined : `${listFirstNames(names, 10)}: ${NEARLY_NO_TEXT}.`;
  }

  #listUnread(): Description["unread"] {
    const unreadable = [...this.#files].flatMap(([name, { reason }]) => (reason ? [{ name, reason }] : []));
    return [...this.#sources.unread, ...unreadable];
  }

  /** Reads a file again if it has changed. */
  async #update({ name, size, changed }: SourceFile): Promise<void> {
    const version = `${size} ${changed}`;
    if (this.#files.get(name)?.version === version) return;
    this.#forget(name);
    const read = await this.#cut(name);
    if ("reason" in read) this.#files.set(name, { version, reason: read.reason });
    else {
      const memory = measureMemory(read.blocks);
      this.#memory += memory;
      this.#files.set(name, { version, memory, ...(read.isBare && { isBare: true }) });
      this.#index.set({ id: name }, read.blocks);
    }
  }

  #forget(name: string): void {
    this.#index.delete(name);
    this.#memory -= this.#files.get(name)?.memory ?? 0;
    this.#files.delete(name);
  }

  /** Splits a file into blocks. A file that may take much time or memory is parsed in a process with limits. */
  async #cut(name: string): Promise<CutDocument> {
    const bytes = readSourceFile(this.options.root, name);
    if (!(bytes instanceof Uint8Array)) return bytes;
    const isSmall = bytes.length <= SMALL_BYTES && !isArchive(name);
    return isSmall ? splitTextFile(name, bytes) : this.#readDocument({ name, bytes }, NEVER);
  }
}
