import type { Block } from "../blocks/block.js";
import { Bm25Index, type PassageMatch } from "./bm25.js";
import { languageOf } from "./language.js";
import type { Description, Hit, Opened, Passage } from "./source.js";
import { related, words } from "./words.js";

/** What is known of a document beside what its words are. */
interface Entry {
  title: string;
  language: string | undefined;
  kinds: Passage["kind"][];
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** What a word that may stand for one of the query counts. */
const RELATED = 0.3;
/** How many titles describe the documents. */
const MOST_TITLES = 60;
/** How much of a document says what language it is in, in blocks and in characters. */
const SAMPLE = { blocks: 30, characters: 4_000 };

/** Documents that are searched by their blocks. It keeps no text: `blocksOf` gives it again. */
export class DocumentIndex {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, Entry>();
  constructor(private readonly blocksOf: (id: string) => readonly Block[]) {}

  /** Adds a document or replaces it. Without a `title` it is its first heading, else its id. */
  set(id: string, blocks: readonly Block[], title?: string): void {
    const passages = blocks.map(({ lines, heading, header = [], caption = "" }) => {
      return { text: lines.join("\n"), heading: [heading, ...header, caption].join(" "), name: id };
    });
    this.#index.set(id, passages);
    const sample = blocks.slice(0, SAMPLE.blocks).flatMap(({ heading, lines }) => [heading, ...lines]);
    this.#entries.set(id, {
      title: title ?? blocks.find(({ heading }) => heading !== "")?.heading.split(" / ")[0] ?? id,
      language: languageOf(sample.join("\n").slice(0, SAMPLE.characters)),
      kinds: blocks.map(({ kind }) => kind),
    });
  }

  delete(id: string): void {
    this.#entries.delete(id);
    this.#index.delete(id);
  }

  /** The best passages for `query`, best first, at most `limit`; only of `kind` if given. */
  search(query: string, limit: number, kind?: Passage["kind"]): Hit[] {
    return this.places(query, limit, kind).flatMap(({ document: id, passage, score }) => {
      const found = this.blocksOf(id)[passage];
      return found === undefined ? [] : [{ passage: { id, ...found }, score }];
    });
  }

  /** As `search`, without the text, and only of documents with a rank of at least `leastRank`; the best score is 1. */
  places(query: string, limit: number, kind?: Passage["kind"], leastRank = 0): PassageMatch[] {
    const asked = [...new Set(words(query))].slice(0, MAX_QUERY_WORDS);
    const terms = new Map(asked.flatMap(related).map((term) => [term, RELATED]));
    for (const term of asked) terms.set(term, 1);
    let best = 0;
    const places: PassageMatch[] = [];
    for (const { document, passage, score } of this.#index.search(terms)) {
      const own = this.#entries.get(document)?.kinds[passage] ?? "prose";
      const rank = sourceRank(document, own);
      best = Math.max(best, score * rank);
      if (kind === undefined || (own === kind && rank >= leastRank))
        places.push({ document, passage, score: score * rank });
    }
    return places
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map((place) => ({ ...place, score: place.score / best }));
  }

  /** As a Source does. */
  open(id: string, from: number, to: number): Opened | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const found = this.blocksOf(id).filter(({ line, lines }) => line <= to && line + lines.length > from);
    return { document: { id, title: entry.title }, passages: found.map((block) => ({ id, ...block })) };
  }

  /** What a term (as `words` gives it) tells: the rarer it is, the more. */
  weight(term: string): number {
    return this.#index.weight(term);
  }

  describe(): Pick<Description, "documents" | "titles" | "languages"> {
    const entries = [...this.#entries];
    return {
      documents: entries.length,
      titles: entries
        .slice(0, MOST_TITLES)
        .map(([id, { title }]) => (title === id ? id : `${title} (${id})`)),
      languages: mostOf(entries.flatMap(([, { language }]) => language ?? [])),
    };
  }
}

const TESTS = /(?:^|\/)(?:tests?|__tests__|fixtures|bench)\/|[._](?:test|spec)\.\w+$/i;
/** In some projects a folder of tests, in others one of documents: a specification. */
const SPECIFICATION = /(?:^|\/)specs?\//i;
const OTHERS = /(?:^|\/)(?:licen[cs]e|third_party|changelog|copying)|[-.]lock\b|-lock\.\w+$/i;

/** Documents (1) answer questions better than code, code better than tests, licences and lists of packages. */
export function sourceRank(file: string, kind: Passage["kind"]): number {
  if (TESTS.test(file) || (kind === "code" && SPECIFICATION.test(file))) return 0.2;
  if (OTHERS.test(file)) return 0.1;
  return kind === "code" ? 0.6 : 1;
}

/** The values that make up at least a tenth of all, the most frequent first. */
function mostOf(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a);
  return ranked.filter(([, count]) => count * 10 >= values.length).map(([value]) => value);
}
