import { detectLanguage } from "../languages/vocabulary.js";
import { splitIntoStems } from "../matching/words.js";
import type { Block } from "../parsing/blocks/block.js";
import { Bm25Index } from "./bm25-index.js";
import type { Description, Hit, Opened, Passage, SourceDocument } from "./source.js";

interface IndexedDocument {
  document: SourceDocument;
  language: string | undefined;
  blocks: readonly Block[];
}

/** The most different words of a query that are used, since each makes the search slower. */
const MAX_QUERY_WORDS = 64;
/** Matches a query that asks for a number; the score of passages with a number is then multiplied by WITH_NUMBER. */
const AMOUNT =
  /\bhow (?:many|long|much|often|large|big|old|far|fast)\b|\b(?:maximum|minimum|default|limit|port|size)\b/i;
const WITH_NUMBER = 1.25;
/** How many folders a description lists. */
const MOST_FOLDERS = 20;
/** How much of a document is used to detect its language, in blocks and characters. */
const SAMPLE = { blocks: 30, characters: 4_000 };

/** Searches documents by their blocks. */
export class DocumentIndex {
  readonly #index = new Bm25Index();
  readonly #entries = new Map<string, IndexedDocument>();

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Adds or replaces a document. Without a `title`, the title is the first heading, else the id. */
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

  /** Returns the `limit` best passages for `query`, best first. */
  search(query: string, limit: number): Hit[] {
    const queryWords = [...new Set(splitIntoStems(query))].slice(0, MAX_QUERY_WORDS);
    const blockAt = (id: string, passage: number) => this.#entries.get(id)?.blocks[passage];
    const isAmount = AMOUNT.test(query);
    const best = this.#index.search(queryWords, limit, (id, nth) => {
      const { kind = "prose", lines = [] } = blockAt(id, nth) ?? {};
      const hasNumber = isAmount && lines.some((line) => /\d/.test(line));
      return rankSource(id, kind) * (hasNumber ? WITH_NUMBER : 1);
    });
    return best.flatMap(({ document: id, passage: nth, score }) => {
      const block = blockAt(id, nth);
      if (block === undefined) return [];
      const passage = buildPassage(id, block, blockAt(id, nth + 1));
      return [
        { passage, score: score / (best[0]?.score ?? 1), share: this.#computeShare(queryWords, passage) },
      ];
    });
  }

  #computeShare(queryWords: readonly string[], passage: Passage): number {
    const passageWords = new Set(splitIntoStems(joinPassage(passage)));
    let total = 0;
    let sum = 0;
    for (const term of queryWords) {
      const weight = this.#index.computeWeight(term);
      total += weight;
      if (passageWords.has(term)) sum += weight;
    }
    return total === 0 ? 0 : sum / total;
  }

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
      // A language of less than a tenth of the documents does not characterize them.
      languages: countValues(languages).flatMap(([name, n]) => (n * 10 >= languages.length ? name : [])),
    };
  }
}

/** Returns the searchable text of a passage. */
function joinPassage({ id, heading, header = [], caption = "", lines, code }: Passage): string {
  return [id, heading, ...header, caption, ...lines, ...(code?.lines ?? [])].join("\n");
}

/** Builds a passage from a block. If the block introduces the code block after it, the passage includes that. */
function buildPassage(id: string, block: Block, next: Block | undefined): Passage {
  const isLead = block.kind === "prose" && /:\s*$/.test(block.lines.at(-1) ?? "");
  const hasCode = isLead && next?.kind === "code" && block.heading === next.heading;
  return { id, ...block, ...(hasCode && { code: next }) };
}

const TESTS = /(?:^|\/)(?:tests?|__tests__|fixtures|bench)\/|[._](?:test|spec)\.\w+$/i;
/** Some projects keep tests in this folder, others specifications. */
const SPECIFICATION = /(?:^|\/)specs?\//i;
const OTHERS = /(?:^|\/)(?:licen[cs]e|third_party|changelog|copying)|[-.]lock\b|-lock\.\w+$/i;

/** Returns a factor for the score of a file: 1 for documents, less for code, least for tests, licences and package lists. */
export function rankSource(file: string, kind: Passage["kind"]): number {
  if (TESTS.test(file) || (kind === "code" && SPECIFICATION.test(file))) return 0.2;
  if (OTHERS.test(file)) return 0.1;
  return kind === "code" ? 0.6 : 1;
}

/** Counts how often each value occurs, the most frequent value first. */
function countValues(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}
