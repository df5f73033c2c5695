import { systemClock } from "../../../clock.js";
import type { Block } from "../blocks/block.js";
import { blocksOf } from "../blocks/blocks.js";
import { type CutDocument, documentReader, isPacked } from "../documents/document.js";
import { readBytes, readText } from "../files/read-file.js";
import { findSources, MAX_TOTAL_BYTES, type SourceFile, type Sources } from "../files/walk.js";
import { DocumentIndex } from "./document-index.js";
import { type Description, type Hit, listOf, type Opened, type Passage, type Source } from "./source.js";

export interface CorpusOptions {
  /** The folder whose files are searched; for a Corpus its absolute path. */
  root: string;
  /** Files and folders that are never read, such as the service's own data. */
  exclude?: readonly string[];
}

/** One table of a source file. */
export interface Table {
  file: string;
  header: string[];
  rows: { line: number; cells: string[] }[];
  /** The headings above it and the text right before it. */
  around: string;
}

/** The searchable text of a folder. Changed files are noticed at most once a second. */
export interface FolderSearch extends Source {
  /** As a Source does; only passages of `kind` if given. */
  search(query: string, limit: number, kind?: Passage["kind"]): Promise<Hit[]>;
  /** The tables that `query` finds, best first, at most `limit`; none of tests and licences. */
  tables(query: string, limit: number): Promise<Table[]>;
  /** What each of `terms` (as `words` gives them) tells: the rarer it is in the folder, the more. */
  weights(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** A file as it was read last. */
interface Version {
  version: string;
  /** Why it is not searched. */
  reason?: string;
  /** Of a document that takes long to read, and has no lines in its file. */
  blocks?: Block[];
}

/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;
/** How many files are kept cut into blocks. What is searched is the index; the text is read again for what was found. */
const KEPT_FILES = 64;
const NEVER = new AbortController().signal;

/** A folder, kept up to date with its files. */
export class Corpus implements FolderSearch {
  readonly #index = new DocumentIndex((id) => this.#blocksOf(id));
  readonly #files = new Map<string, Version>();
  readonly #cutFiles = new Map<string, Block[]>();
  readonly #readDocument = documentReader(systemClock);
  #sources: Sources = { files: [], unread: [] };
  #freshUntil = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

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
    return this.#index.search(query, limit, kind);
  }

  async tables(query: string, limit: number): Promise<Table[]> {
    await this.refresh();
    const tables = new Map<string, Table>();
    for (const { document: file, passage } of this.#index.places(query, 8 * limit, "table", 1)) {
      const blocks = this.#blocksOf(file);
      const found = blocks[passage];
      const key = `${file} ${found?.table}`;
      if (found?.cells === undefined || tables.has(key)) continue;
      const { table, header = [], heading, caption = "" } = found;
      const rows = blocks.flatMap(({ line, cells, table: its }) =>
        its === table && cells !== undefined ? [{ line, cells }] : [],
      );
      tables.set(key, { file, header, rows, around: `${heading} ${caption}` });
      if (tables.size >= limit) break;
    }
    return [...tables.values()];
  }

  async weights(terms: readonly string[]): Promise<ReadonlyMap<string, number>> {
    await this.refresh();
    return new Map(terms.map((term) => [term, this.#index.weight(term)]));
  }

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    await this.refresh();
    return this.#index.open(id, from, to);
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
    const read = isPacked(name) ? await this.#unpack(name) : this.#cut(name);
    if ("reason" in read) this.#files.set(name, { version, reason: read.reason });
    else {
      this.#files.set(name, { version, ...(isPacked(name) && { blocks: read.blocks }) });
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
    const packed = this.#files.get(name)?.blocks;
    if (packed !== undefined) return packed;
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
    return "text" in read ? { blocks: blocksOf(name, read.text) } : read;
  }

  async #unpack(name: string): Promise<CutDocument> {
    const bytes = readBytes(this.options.root, name, MAX_TOTAL_BYTES);
    return bytes instanceof Uint8Array ? this.#readDocument({ name, bytes }, NEVER) : bytes;
  }
}
