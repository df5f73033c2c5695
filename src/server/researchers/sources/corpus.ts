import type { Block } from "../blocks/block.js";
import { blocksOf } from "../blocks/blocks.js";
import { readText } from "../files/read-file.js";
import { findSources, type SourceFile, type Sources } from "../files/walk.js";
import { Bm25Index, type Found } from "./bm25.js";
import type { Hit, Passage, SourceSearch, SourceSummary, Table } from "./search.js";
import type { Segment } from "./segments.js";
import { listOf } from "./skipped.js";
import { standing } from "./standing.js";
import { related } from "./synonyms.js";
import { tableAt } from "./tables.js";
import { words } from "./words.js";

export interface CorpusOptions {
  /** The folder, as an absolute path. */
  root: string;
  /** Files and folders that are never read. */
  exclude?: readonly string[];
}

/** A file of the index, with the kinds of its passages: one letter each. */
interface Entry {
  name: string;
  version: string;
  segment: Segment;
  kinds: string;
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** What a word that may stand for one of the query counts. */
const RELATED = 0.3;
/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;
/** How many files are kept cut into blocks. What is searched is the index; the text is read again for what was found. */
const KEPT_FILES = 64;

/** The searchable text of a folder, kept up to date with its files. */
export class Corpus implements SourceSearch {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, Entry>();
  /** The versions of files that are no text, which need not be read again. */
  readonly #unreadable = new Map<string, string>();
  #order: Entry[] = [];
  #sources: Sources = { files: [], skipped: [] };
  #freshUntil = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;
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
    const factor = (entry: Entry, passage: number) => standing(entry.name, kindAt(entry, passage));
    const [best] = this.#find(query, 1, factor);
    const top = best?.score ?? 1;
    const found = this.#find(query, limit, (entry, passage) =>
      kind === undefined || kindAt(entry, passage) === kind ? factor(entry, passage) : 0,
    );
    const hits: Hit[] = [];
    for (const { segment, passage, score } of found) {
      const name = this.#order[segment]?.name ?? "";
      const block = (await this.#blocksOf(name))[passage];
      if (block !== undefined) hits.push({ passage: passageOf(name, block), score: score / top });
    }
    return hits;
  }

  async tables(query: string, limit: number): Promise<Table[]> {
    await this.refresh();
    const isRow = (entry: Entry, passage: number) =>
      kindAt(entry, passage) === "table" && standing(entry.name, "table") === 1 ? 1 : 0;
    const tables = new Map<string, Table>();
    for (const { segment, passage } of this.#find(query, 8 * limit, isRow)) {
      const name = this.#order[segment]?.name ?? "";
      const blocks = await this.#blocksOf(name);
      const key = `${name} ${blocks[passage]?.table}`;
      const table = tables.has(key) ? undefined : tableAt(name, blocks, passage);
      if (table !== undefined) tables.set(key, table);
      if (tables.size >= limit) break;
    }
    return [...tables.values()];
  }

  async weights(terms: readonly string[]): Promise<number[]> {
    await this.refresh();
    return terms.map((term) => this.#index.weight(term));
  }

  async read(file: string, from: number, to: number): Promise<string[] | undefined> {
    await this.refresh();
    if (!this.#entries.has(file)) return undefined;
    const text = readText(this.options.root, file);
    if (text === undefined) return undefined;
    const lines = text.split(/\r\n|\n|\r/);
    const shown = new Map<number, string>();
    for (const block of await this.#blocksOf(file)) {
      block.lines.forEach((line, i) => {
        const number = block.line + i;
        shown.set(number, [shown.get(number), line].filter(Boolean).join(" "));
      });
    }
    const isMarkup = /<\/?\w+/.test(lines[0] ?? "") || /\.x?html?$/i.test(file);
    const first = Math.max(1, from);
    return lines.slice(first - 1, to).map((line, i) => (isMarkup ? (shown.get(first + i) ?? "") : line));
  }

  async summary(): Promise<SourceSummary> {
    await this.refresh();
    const { stopped, skipped } = this.#sources;
    return { files: this.#entries.size, skipped, ...(stopped !== undefined && { stopped }) };
  }

  #find(query: string, limit: number, factor: (entry: Entry, passage: number) => number): Found[] {
    const asked = [...new Set(words(query))].slice(0, MAX_QUERY_WORDS);
    const terms = new Map(asked.flatMap(related).map((term) => [term, RELATED]));
    for (const term of asked) terms.set(term, 1);
    return this.#index.search(terms, limit, (segment, passage) => {
      const entry = this.#order[segment];
      return entry === undefined ? 0 : factor(entry, passage);
    });
  }

  async #read(): Promise<void> {
    this.#sources = await findSources(this.options.root, this.options.exclude);
    const gone = new Set(this.#entries.keys());
    let changed = false;
    for (const file of this.#sources.files) {
      gone.delete(file.name);
      if (await this.#update(file)) changed = true;
    }
    for (const name of gone) changed = this.#entries.delete(name) || changed;
    if (changed) {
      this.#order = [...this.#entries.values()];
      this.#index.replace(this.#order.map(({ segment }) => segment));
    }
    this.#freshUntil = performance.now() + FRESH_MS;
    const { stopped, skipped } = this.#sources;
    if (stopped !== undefined) this.notice(`reading the sources ${stopped}; the rest is not searched`);
    if (skipped.length > 0) this.notice(`too large to be searched: ${listOf(skipped)}`);
  }

  /** Reads a file if it has changed; whether it has. */
  async #update(file: SourceFile): Promise<boolean> {
    const version = `${file.size} ${file.changed}`;
    if (this.#entries.get(file.name)?.version === version) return false;
    if (this.#unreadable.get(file.name) === version) return false;
    const had = this.#entries.delete(file.name);
    this.#blocks.delete(file.name);
    const text = readText(this.options.root, file.name);
    if (text === undefined) {
      this.#unreadable.set(file.name, version);
      return had;
    }
    this.#unreadable.delete(file.name);
    const blocks = blocksOf(file.name, text);
    const segment = this.#index.segment(
      blocks.map((block) => ({
        text: block.lines.join("\n"),
        heading: [block.heading, ...(block.header ?? []), block.caption ?? ""].join(" "),
        name: file.name,
      })),
    );
    const kinds = blocks.map(({ kind }) => kind[0]).join("");
    this.#entries.set(file.name, { name: file.name, version, segment, kinds });
    return true;
  }

  /** The blocks of a file as they are now. */
  async #blocksOf(name: string): Promise<Block[]> {
    const version = this.#entries.get(name)?.version ?? "";
    const kept = this.#blocks.get(name);
    this.#blocks.delete(name);
    const text = kept?.version === version ? "" : readText(this.options.root, name);
    const blocks = kept?.version === version ? kept.blocks : blocksOf(name, text ?? "");
    this.#blocks.set(name, { version, blocks });
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_FILES && oldest !== undefined) this.#blocks.delete(oldest);
    return blocks;
  }
}

const KINDS = { p: "prose", t: "table", c: "code" } as const;

function kindAt(entry: Entry, passage: number): Passage["kind"] {
  return KINDS[entry.kinds[passage] as keyof typeof KINDS] ?? "prose";
}

function passageOf(file: string, { line, lines, heading, kind, header, caption }: Block): Passage {
  return { file, line, lines, heading, kind, ...(header && { header }), ...(caption && { caption }) };
}
