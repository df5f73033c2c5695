import { join } from "node:path";
import { systemClock } from "../../ground/clock.js";
import type { Block } from "../reading/blocks/block.js";
import { blocksOf, hasNearlyNoText, NEARLY_NO_TEXT } from "../reading/blocks/blocks.js";
import { type CutDocument, documentReader, isPacked } from "../reading/documents/document.js";
import type { PreCommand } from "../reading/documents/pre.js";
import { MAX_FILE_BYTES, readBytes, readText } from "../reading/files/read-file.js";
import {
  endingOf,
  findSources,
  MAX_TOTAL_BYTES,
  type SourceFile,
  type Sources,
} from "../reading/files/walk.js";
import { DocumentIndex } from "./document-index.js";
import { type Description, firstOf, type Hit, listOf, type Opened, type Source } from "./source.js";

export interface CorpusOptions {
  /** The folder whose files are searched; for a Corpus its absolute path. */
  root: string;
  /** Files and folders that are never read, such as the service's own data. */
  exclude?: readonly string[];
  /** What makes text of files, by their endings in lower case, without the dot. */
  pre?: Readonly<Record<string, PreCommand>>;
}

/** A file as it was read last. */
interface Version {
  version: string;
  /** Why it is not searched. */
  reason?: string;
  /** Of a document that was read with limits: that takes too long to do again for each question. */
  blocks?: Block[];
  /** It gave nearly no text. */
  isBare?: boolean;
}

/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;
/** How many files are kept cut into blocks. What is searched is the index; the text is read again for what was found. */
const KEPT_FILES = 64;
/** A text file of this size is cut here: whatever is in it, that takes some milliseconds and few megabytes. */
const SMALL_BYTES = 131_072;
const NEVER = new AbortController().signal;

/** A folder, kept up to date with its files: changed ones are noticed at most once a second. It is asked one thing at a time. */
export class Corpus implements Source {
  readonly #index = new DocumentIndex((id) => this.#blocksOf(id));
  readonly #files = new Map<string, Version>();
  readonly #cutFiles = new Map<string, Block[]>();
  readonly #readDocument = documentReader(systemClock, 1);
  #sources: Sources = { files: [], unread: [] };
  #freshUntil = Number.NEGATIVE_INFINITY;

  /** `notice` is told what of the folder is not searched, as a sentence for a person. */
  constructor(
    private readonly options: CorpusOptions,
    private readonly notice: (line: string) => void = () => {},
  ) {}

  /** Reads what is new or has changed, and forgets what is gone. */
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
    const notes = [stopped && `Reading ${stopped}.`, this.#bare()].flatMap((note) => note || []);
    return { kind: "a folder of documents", ...this.#index.describe(), unread: this.#unread(), notes };
  }

  async #read(): Promise<void> {
    this.#sources = await findSources(
      this.options.root,
      this.options.exclude,
      Object.keys(this.options.pre ?? {}),
    );
    const gone = new Set(this.#files.keys());
    for (const file of this.#sources.files) {
      gone.delete(file.name);
      await this.#update(file);
    }
    for (const name of gone) this.#forget(name);
    this.#freshUntil = performance.now() + FRESH_MS;
    const { stopped } = this.#sources;
    if (stopped !== undefined) this.notice(`reading the sources ${stopped}; the rest is not searched`);
    const unread = this.#unread();
    if (unread.length > 0) this.notice(`not searched: ${listOf(unread)}`);
    const bare = this.#bare();
    if (bare !== undefined) this.notice(bare);
  }

  /** Names the files that gave nearly no text. */
  #bare(): string | undefined {
    const names = [...this.#files].flatMap(([name, { isBare }]) => (isBare ? [name] : []));
    return names.length === 0 ? undefined : `${firstOf(names, 10)}: ${NEARLY_NO_TEXT}.`;
  }

  #unread(): Description["unread"] {
    const unreadable = [...this.#files].flatMap(([name, { reason }]) => (reason ? [{ name, reason }] : []));
    return [...this.#sources.unread, ...unreadable];
  }

  /** Reads a file if it has changed. */
  async #update({ name, size, changed }: SourceFile): Promise<void> {
    const version = `${size} ${changed}`;
    if (this.#files.get(name)?.version === version) return;
    this.#forget(name);
    const pre = this.options.pre?.[endingOf(name)];
    const isLimited = pre !== undefined || isPacked(name) || size > SMALL_BYTES;
    const read = pre
      ? await this.#readDocument({ name: join(this.options.root, name), bytes: new Uint8Array(), pre }, NEVER)
      : isLimited
        ? await this.#readLimited(name)
        : this.#cut(name);
    if ("reason" in read) this.#files.set(name, { version, reason: read.reason });
    else {
      const { blocks, isBare } = read;
      this.#files.set(name, { version, ...(isLimited && { blocks }), ...(isBare && { isBare }) });
      this.#index.set(name, read.blocks);
    }
  }

  #forget(name: string): void {
    this.#index.delete(name);
    this.#files.delete(name);
    this.#cutFiles.delete(name);
  }

  /** The blocks of a file as they are now. */
  #blocksOf(name: string): Block[] {
    const limited = this.#files.get(name)?.blocks;
    if (limited !== undefined) return limited;
    const kept = this.#cutFiles.get(name);
    this.#cutFiles.delete(name);
    const cut = kept === undefined ? this.#cut(name) : { blocks: kept };
    const blocks = "blocks" in cut ? cut.blocks : [];
    this.#cutFiles.set(name, blocks);
    const [oldest] = this.#cutFiles.keys();
    if (this.#cutFiles.size > KEPT_FILES && oldest !== undefined) this.#cutFiles.delete(oldest);
    return blocks;
  }

  #cut(name: string): CutDocument {
    const read = readText(this.options.root, name);
    if ("reason" in read) return read;
    const blocks = blocksOf(name, read.text);
    return { blocks, isBare: hasNearlyNoText(name, read.text, blocks) };
  }

  async #readLimited(name: string): Promise<CutDocument> {
    const bytes = readBytes(this.options.root, name, isPacked(name) ? MAX_TOTAL_BYTES : MAX_FILE_BYTES);
    return bytes instanceof Uint8Array ? this.#readDocument({ name, bytes }, NEVER) : bytes;
  }
}
