import { systemClock } from "../../../clock.js";
import type { Block } from "../blocks/block.js";
import { blocksOf } from "../blocks/blocks.js";
import { type CutDocument, isPacked, type ReadDocument } from "../documents/document.js";
import { DocumentThread } from "../documents/document-thread.js";
import { readBytes, readText } from "../files/read-file.js";
import { findSources, MAX_TOTAL_BYTES, type SourceFile, type Sources } from "../files/walk.js";
import { DocumentIndex, stretch, toHits } from "./document-index.js";
import type { FolderSearch, Table } from "./folder-search.js";
import type { Description, Hit, Opened, Passage, Unread } from "./source.js";
import { tableAt } from "./tables.js";
import { listOf } from "./unread.js";

export interface CorpusOptions {
  /** The folder, as an absolute path. */
  root: string;
  /** Files and folders that are never read. */
  exclude?: readonly string[];
}

/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;
/** How many files are kept cut into blocks. What is searched is the index; the text is read again for what was found. */
const KEPT_FILES = 64;
/** The searchable text of a folder, kept up to date with its files. */
export class Corpus implements FolderSearch {
  readonly #index = new DocumentIndex();
  /** The version of each file of the index. */
  readonly #versions = new Map<string, string>();
  /** Files that are not text, which need not be read again in this version. */
  readonly #unreadable = new Map<string, { version: string; reason: string }>();
  #sources: Sources = { files: [], unread: [] };
  #freshUntil = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;
  /** Documents that take long to read, and have no lines in their files. */
  readonly #packed = new Map<string, ReadDocument>();
  readonly #documents = new DocumentThread(systemClock);
  readonly #blocks = new Map<string, { version: string; blocks: Block[] }>();

  /** `notice` is told what of the folder is not searched, as a sentence for a person. */
  constructor(
    private readonly options: CorpusOptions,
    private readonly notice: (line: string) => void = () => {},
  ) {}

  /** Reads what is new or has changed, and forgets what is gone. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#freshUntil) return;
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async search(query: string, limit: number, kind?: Passage["kind"]): Promise<Hit[]> {
    await this.refresh();
    return toHits(this.#index.search(query, limit, kind), (id) => this.#blocksOf(id));
  }

  async tables(query: string, limit: number): Promise<Table[]> {
    await this.refresh();
    const tables = new Map<string, Table>();
    for (const { id, block } of this.#index.search(query, 8 * limit, "table", 1)) {
      const blocks = this.#blocksOf(id);
      const key = `${id} ${blocks[block]?.table}`;
      const table = tables.has(key) ? undefined : tableAt(id, blocks, block);
      if (table !== undefined) tables.set(key, table);
      if (tables.size >= limit) break;
    }
    return [...tables.values()];
  }

  async weights(terms: readonly string[]): Promise<number[]> {
    await this.refresh();
    return terms.map((term) => this.#index.weight(term));
  }

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    await this.refresh();
    if (!this.#versions.has(id)) return undefined;
    const passages = stretch(id, this.#blocksOf(id), from, to);
    return { document: { id, title: this.#index.titleOf(id) }, passages };
  }

  async describe(): Promise<Description> {
    await this.refresh();
    const { stopped } = this.#sources;
    return {
      kind: "a folder of documents",
      ...this.#index.describe(),
      unread: this.#unread(),
      notes: stopped === undefined ? [] : [`Reading ${stopped}.`],
    };
  }

  async #read(): Promise<void> {
    this.#sources = await findSources(this.options.root, this.options.exclude);
    const gone = new Set([...this.#versions.keys(), ...this.#unreadable.keys()]);
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
  }

  #unread(): Unread[] {
    const unreadable = [...this.#unreadable].map(([name, { reason }]) => ({ name, reason }));
    return [...this.#sources.unread, ...unreadable];
  }

  /** Reads a file if it has changed. */
  async #update({ name, size, changed }: SourceFile): Promise<void> {
    const version = `${size} ${changed}`;
    if ((this.#versions.get(name) ?? this.#unreadable.get(name)?.version) === version) return;
    this.#forget(name);
    const read = isPacked(name) ? await this.#unpack(name) : this.#cut(name);
    if ("reason" in read) {
      this.#unreadable.set(name, { version, reason: read.reason });
      return;
    }
    if (isPacked(name)) this.#packed.set(name, read);
    this.#versions.set(name, version);
    this.#index.set(name, read.blocks);
  }

  #forget(name: string): void {
    this.#index.delete(name);
    this.#versions.delete(name);
    this.#unreadable.delete(name);
    this.#blocks.delete(name);
    this.#packed.delete(name);
  }

  /** The blocks of a file as they are now. */
  #blocksOf(name: string): Block[] {
    const packed = this.#packed.get(name);
    if (packed !== undefined) return packed.blocks;
    const version = this.#versions.get(name) ?? "";
    const kept = this.#blocks.get(name);
    this.#blocks.delete(name);
    const cut = kept?.version === version ? kept : this.#cut(name);
    const blocks = "blocks" in cut ? cut.blocks : [];
    this.#blocks.set(name, { version, blocks });
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_FILES && oldest !== undefined) this.#blocks.delete(oldest);
    return blocks;
  }

  #cut(name: string): CutDocument {
    const read = readText(this.options.root, name);
    return "text" in read ? { blocks: blocksOf(name, read.text) } : read;
  }

  async #unpack(name: string): Promise<CutDocument> {
    const bytes = readBytes(this.options.root, name, MAX_TOTAL_BYTES);
    return bytes instanceof Uint8Array ? this.#documents.read({ name, bytes }) : bytes;
  }
}
