import { detectLanguage } from "../languages/languages.js";
import { splitWords } from "../matching/words.js";
import type { Block } from "../reading/blocks/block.js";
import { Bm25Index } from "./bm25.js";
import type { Description, Hit, Opened, Passage, SourceDocument } from "./source.js";

interface IndexedDocument {
  document: SourceDocument;
  language: string | undefined;
  blocks: readonly Block[];
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** A question that asks for a number, and the factor by which a passage with a number scores more. */
const AMOUNT =
  /\bhow (?:many|long|much|often|large|big|old|far|fast)\b|\b(?:maximum|minimum|default|limit|port|size)\b/i;
const WITH_NUMBER = 1.25;
/** How many folders describe where the documents lie. */
const MOST_FOLDERS = 20;
/** How much of a document says what language it is in, in blocks and in characters. */
const SAMPLE = { blocks: 30, characters: 4_000 };

/** Documents that are searched by their blocks. */
export class DocumentIndex {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, IndexedDocument>();

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Adds a document or replaces it. Without a `title` it is its first heading, else its id. */
  set(about: Omit<SourceDocument, "title"> & { title?: string }, blocks: readonly Block[]): void {
    const { id, title } = about;
    this.#index.set(
      id,
      blocks.map((block, nth) => joinPassage(buildPassage(id, block, blocks[nth + 1]))),
    );
    const sample = blocks.slice(0, SAMPLE.blocks).flatMap(({ heading, lines }) => [heading, ...lines]);
    this.#entries.set(id, {
      document: {
        ...about,
        title: title ?? blocks.find(({ heading }) => heading !== "")?.heading.split(" / ")[0] ?? id,
      },
      language: detectLanguage(sample.join("\n").slice(0, SAMPLE.characters)),
      blocks,
    });
  }

  delete(id: string): void {
    this.#entries.delete(id);
    this.#index.delete(id);
  }

  /** The best passages for `query`, best first, at most `limit`. */
  search(query: string, limit: number): Hit[] {
    const asked = [...new Set(splitWords(query))].slice(0, MAX_QUERY_WORDS);
    const blockAt = (id: string, passage: number) => this.#entries.get(id)?.blocks[passage];
    const isAmount = AMOUNT.test(query);
    const best = this.#index.search(asked, limit, (id, nth) => {
      const { kind = "prose", lines = [] } = blockAt(id, nth) ?? {};
      const hasNumber = isAmount && lines.some((line) => /\d/.test(line));
      return rankSource(id, kind) * (hasNumber ? WITH_NUMBER : 1);
    });
    return best.flatMap(({ document: id, passage: nth, score }) => {
      const block = blockAt(id, nth);
      if (block === undefined) return [];
      const passage = buildPassage(id, block, blockAt(id, nth + 1));
      return [{ passage, score: score / (best[0]?.score ?? 1), share: this.#shareOf(asked, passage) }];
    });
  }

  #shareOf(asked: readonly string[], passage: Passage): number {
    const passageWords = new Set(splitWords(joinPassage(passage)));
    let total = 0;
    let sum = 0;
    for (const term of asked) {
      const weight = this.#index.computeWeight(term);
      total += weight;
      if (passageWords.has(term)) sum += weight;
    }
    return total === 0 ? 0 : sum / total;
  }

  /** As a Source does. */
  open(id: string, from: number, to: number): Opened | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const blocks = entry.blocks.filter(({ line, lines }) => line <= to && line + lines.length > from);
    return { document: entry.document, passages: blocks.map((block) => ({ id, ...block })) };
  }

  describe(): Pick<Description, "documents" | "titles" | "folders" | "languages"> {
    const entries = [...this.#entries];
    const folders = countValues(entries.flatMap(([id]) => id.split("/").slice(0, -1).join("/") || []));
    const languages = entries.flatMap(([, { language }]) => language ?? []);
    return {
      documents: entries.length,
      titles: entries.map(([id, { document }]) => (document.title === id ? id : `${document.title} (${id})`)),
      folders: folders.slice(0, MOST_FOLDERS).map(([folder, count]) => `${folder} (${count})`),
      // What is in less than a tenth of the documents tells nothing of the others.
      languages: countValues(languages).flatMap(([name, n]) => (n * 10 >= languages.length ? name : [])),
    };
  }
}

/** The text by which a passage is found. */
function joinPassage({ id, heading, header = [], caption = "", lines, code }: Passage): string {
  return [id, heading, ...header, caption, ...lines, ...(code?.lines ?? [])].join("\n");
}

/** A block as a passage, with the code that it leads to. */
function buildPassage(id: string, block: Block, next: Block | undefined): Passage {
  const isLead = block.kind === "prose" && /:\s*$/.test(block.lines.at(-1) ?? "");
  const hasCode = isLead && next?.kind === "code" && block.heading === next.heading;
  return { id, ...block, ...(hasCode && { code: next }) };
}

const TESTS = /(?:^|\/)(?:tests?|__tests__|fixtures|bench)\/|[._](?:test|spec)\.\w+$/i;
/** In some projects a folder of tests, in others one of documents: a specification. */
const SPECIFICATION = /(?:^|\/)specs?\//i;
const OTHERS = /(?:^|\/)(?:licen[cs]e|third_party|changelog|copying)|[-.]lock\b|-lock\.\w+$/i;

/** Documents (1) answer questions better than code, code better than tests, licences and lists of packages. */
export function rankSource(file: string, kind: Passage["kind"]): number {
  if (TESTS.test(file) || (kind === "code" && SPECIFICATION.test(file))) return 0.2;
  if (OTHERS.test(file)) return 0.1;
  return kind === "code" ? 0.6 : 1;
}

/** Each value with how often it comes, the most frequent first. */
function countValues(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}
