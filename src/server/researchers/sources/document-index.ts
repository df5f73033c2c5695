import type { Block } from "../blocks/block.js";
import { Bm25Index } from "./bm25.js";
import { languageOf } from "./language.js";
import type { Segment } from "./segments.js";
import type { Description, Hit, Passage } from "./source.js";
import { sourceRank } from "./source-rank.js";
import { related } from "./synonyms.js";
import { words } from "./words.js";

/** A document of the index. */
interface Entry {
  id: string;
  title: string;
  language: string | undefined;
  segment: Segment;
  /** One letter for each of its passages. */
  kinds: string;
}

/** Where a query was found. */
export interface Place {
  id: string;
  /** Which block of the document. */
  block: number;
  /** 1 is the best one for the query. */
  score: number;
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** What a word that may stand for one of the query counts. */
const RELATED = 0.3;
/** How many titles describe the documents. */
const MOST_TITLES = 60;
/** How many blocks of a document say what language it is in. */
const LANGUAGE_SAMPLE = 30;

/** Documents that are searched by their blocks. It keeps no text: whoever has the documents finds it again. */
export class DocumentIndex {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, Entry>();
  #order: Entry[] = [];
  #isStale = false;

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a document or replaces it. Without a `title` it is its first heading, else its id. */
  set(id: string, blocks: readonly Block[], title?: string): void {
    const segment = this.#index.segment(
      blocks.map((block) => ({
        text: block.lines.join("\n"),
        heading: [block.heading, ...(block.header ?? []), block.caption ?? ""].join(" "),
        name: id,
      })),
    );
    const sample = blocks.slice(0, LANGUAGE_SAMPLE).flatMap(({ heading, lines }) => [heading, ...lines]);
    this.#entries.set(id, {
      id,
      title: title ?? blocks.find(({ heading }) => heading !== "")?.heading.split(" / ")[0] ?? id,
      language: languageOf(sample.join("\n")),
      segment,
      kinds: blocks.map(({ kind }) => kind[0]).join(""),
    });
    this.#isStale = true;
  }

  delete(id: string): void {
    if (this.#entries.delete(id)) this.#isStale = true;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  titleOf(id: string): string {
    return this.#entries.get(id)?.title ?? id;
  }

  /**
   * The best places for `query`, best first, at most `limit`; only of `kind` if given, and of documents with a rank of
   * at least `leastRank`.
   */
  search(query: string, limit: number, kind?: Passage["kind"], leastRank = 0): Place[] {
    this.#refresh();
    const [best] = this.#find(query, 1);
    const found = this.#find(query, limit, kind, leastRank);
    return found.map((place) => ({ ...place, score: place.score / (best?.score ?? 1) }));
  }

  weight(term: string): number {
    this.#refresh();
    return this.#index.weight(term);
  }

  describe(): Pick<Description, "documents" | "titles" | "languages"> {
    const entries = [...this.#entries.values()];
    const shown = entries.slice(0, MOST_TITLES);
    return {
      documents: entries.length,
      titles: shown.map(({ id, title }) => (title === id ? id : `${title} (${id})`)),
      languages: mostOf(entries.flatMap(({ language }) => language ?? [])),
    };
  }

  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#order = [...this.#entries.values()];
    this.#index.replace(this.#order.map(({ segment }) => segment));
  }

  #find(query: string, limit: number, kind?: Passage["kind"], leastRank = 0): Place[] {
    const asked = [...new Set(words(query))].slice(0, MAX_QUERY_WORDS);
    const terms = new Map(asked.flatMap(related).map((term) => [term, RELATED]));
    for (const term of asked) terms.set(term, 1);
    const factor = (segment: number, passage: number) => {
      const { id, kinds } = this.#order[segment] ?? { id: "", kinds: "" };
      const own = KINDS[kinds[passage] as keyof typeof KINDS] ?? "prose";
      const rank = sourceRank(id, own);
      if (kind !== undefined && (own !== kind || rank < leastRank)) return 0;
      return rank;
    };
    return this.#index.search(terms, limit, factor).map(({ segment, passage, score }) => ({
      id: this.#order[segment]?.id ?? "",
      block: passage,
      score,
    }));
  }
}

const KINDS = { p: "prose", t: "table", c: "code" } as const;

/** The values that make up at least a tenth of all, the most frequent first. */
function mostOf(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a);
  return ranked.filter(([, count]) => count * 10 >= values.length).map(([value]) => value);
}

export function toHits(places: readonly Place[], blocksOf: (id: string) => readonly Block[]): Hit[] {
  return places.flatMap(({ id, block, score }) => {
    const found = blocksOf(id)[block];
    return found === undefined ? [] : [{ passage: passageOf(id, found), score }];
  });
}

/** The blocks that have a line from `from` to `to`, as passages of the document `id`. */
export function stretch(id: string, blocks: readonly Block[], from: number, to: number): Passage[] {
  const found = blocks.filter(({ line, lines }) => line <= to && line + lines.length > from);
  return found.map((block) => passageOf(id, block));
}

function passageOf(id: string, { line, lines, heading, kind, header, caption }: Block): Passage {
  return { id, line, lines, heading, kind, ...(header && { header }), ...(caption && { caption }) };
}
