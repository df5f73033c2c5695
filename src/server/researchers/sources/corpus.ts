import type { Block } from "../blocks/block.js";
import { blocksOf } from "../blocks/blocks.js";
import { readText } from "../files/read-file.js";
import { findSources, type SourceFile, type Sources } from "../files/walk.js";
import { Bm25Index, type Found } from "./bm25.js";
import type { FolderSearch, Table } from "./folder-search.js";
import { languageOf } from "./language.js";
import type { Segment } from "./segments.js";
import type { Description, Hit, Opened, Passage, Unread } from "./source.js";
import { sourceRank } from "./source-rank.js";
import { related } from "./synonyms.js";
import { tableAt } from "./tables.js";
import { listOf } from "./unread.js";
import { words } from "./words.js";

export interface CorpusOptions {
  /** The folder, as an absolute path. */
  root: string;
  /** Files and folders that are never read. */
  exclude?: readonly string[];
}

/** A file of the index. `kinds` has one letter for each of its passages. */
interface Entry {
  name: string;
  version: string;
  segment: Segment;
  kinds: string;
  /** Its first heading, else its name. */
  title: string;
  language: string | undefined;
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** What a word that may stand for one of the query counts. */
const RELATED = 0.3;
/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;
/** How many files are kept cut into blocks. What is searched is the index; the text is read again for what was found. */
const KEPT_FILES = 64;
/** How many titles describe the folder. */
const MOST_TITLES = 60;
/** How much of a file says what language it is in, in characters. */
const LANGUAGE_SAMPLE = 4_000;

/** The searchable text of a folder, kept up to date with its files. */
export class Corpus implements FolderSearch {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, Entry>();
  /** Files that are not text, which need not be read again in this version. */
  readonly #unreadable = new Map<string, { version: string; reason: string }>();
  #order: Entry[] = [];
  #sources: Sources = { files: [], unread: [] };
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
    const factor = (entry: Entry, passage: number) => sourceRank(entry.name, kindAt(entry, passage));
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
      kindAt(entry, passage) === "table" && sourceRank(entry.name, "table") === 1 ? 1 : 0;
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

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    await this.refresh();
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const blocks = (await this.#blocksOf(id)).filter(
      ({ line, lines }) => line <= to && line + lines.length > from,
    );
    return { document: { id, title: entry.title }, passages: blocks.map((block) => passageOf(id, block)) };
  }

  async describe(): Promise<Description> {
    await this.refresh();
    const { stopped } = this.#sources;
    return {
      kind: "a folder of documents",
      documents: this.#entries.size,
      titles: this.#order
        .slice(0, MOST_TITLES)
        .map(({ name, title }) => (title === name ? name : `${title} (${name})`)),
      languages: mostOf(this.#order.flatMap(({ language }) => language ?? [])),
      unread: this.#unread(),
      notes: stopped === undefined ? [] : [`Reading ${stopped}.`],
    };
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
    const names = new Set(this.#sources.files.map(({ name }) => name));
    for (const name of this.#unreadable.keys()) if (!names.has(name)) this.#unreadable.delete(name);
    if (changed) {
      this.#order = [...this.#entries.values()];
      this.#index.replace(this.#order.map(({ segment }) => segment));
    }
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

  /** Reads a file if it has changed; whether it has. */
  async #update(file: SourceFile): Promise<boolean> {
    const version = `${file.size} ${file.changed}`;
    if (this.#entries.get(file.name)?.version === version) return false;
    if (this.#unreadable.get(file.name)?.version === version) return false;
    const had = this.#entries.delete(file.name);
    this.#blocks.delete(file.name);
    const read = readText(this.options.root, file.name);
    if ("reason" in read) {
      this.#unreadable.set(file.name, { version, reason: read.reason });
      return had;
    }
    this.#unreadable.delete(file.name);
    const { text } = read;
    const blocks = blocksOf(file.name, text);
    const segment = this.#index.segment(
      blocks.map((block) => ({
        text: block.lines.join("\n"),
        heading: [block.heading, ...(block.header ?? []), block.caption ?? ""].join(" "),
        name: file.name,
      })),
    );
    const kinds = blocks.map(({ kind }) => kind[0]).join("");
    const title = blocks.find(({ heading }) => heading !== "")?.heading.split(" / ")[0] ?? file.name;
    const language = languageOf(text.slice(0, LANGUAGE_SAMPLE));
    this.#entries.set(file.name, { name: file.name, version, segment, kinds, title, language });
    return true;
  }

  /** The blocks of a file as they are now. */
  async #blocksOf(name: string): Promise<Block[]> {
    const version = this.#entries.get(name)?.version ?? "";
    const kept = this.#blocks.get(name);
    this.#blocks.delete(name);
    const blocks = kept?.version === version ? kept.blocks : this.#cut(name);
    this.#blocks.set(name, { version, blocks });
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_FILES && oldest !== undefined) this.#blocks.delete(oldest);
    return blocks;
  }

  #cut(name: string): Block[] {
    const read = readText(this.options.root, name);
    return "text" in read ? blocksOf(name, read.text) : [];
  }
}

const KINDS = { p: "prose", t: "table", c: "code" } as const;

function kindAt(entry: Entry, passage: number): Passage["kind"] {
  return KINDS[entry.kinds[passage] as keyof typeof KINDS] ?? "prose";
}

/** The values that make up at least a tenth of all, the most frequent first. */
function mostOf(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a);
  return ranked.filter(([, count]) => count * 10 >= values.length).map(([value]) => value);
}

function passageOf(id: string, { line, lines, heading, kind, header, caption }: Block): Passage {
  return { id, line, lines, heading, kind, ...(header && { header }), ...(caption && { caption }) };
}
