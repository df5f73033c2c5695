import type { Progress } from "../../../core/researcher.js";
import { splitIntoStems } from "../../matching/words.js";
import { MAX_LINES } from "../../parsing/blocks/block.js";
import type { Opened, Passage, Source } from "../../searching/source.js";
import { buildSectionInput } from "../prompts.js";

/** How many passages of one query are considered. */
const PER_QUERY = 15;
/** The largest section around a passage, in bytes, and how far it may extend in both directions, in lines. */
const SECTION_BYTES = 8_000;
const AROUND = 200;
/** The largest section without a heading that delimits it, in bytes: a few paragraphs. */
const PLAIN_BYTES = 2_000;
/** The share of common words above which a section is a duplicate. */
const SAME = 0.9;

/** A queue of sections to read: the whole sections around the best passages of each query. */
export class SectionQueue {
  #waiting: Passage[] = [];
  /** Sections to take next: they did not fit into the prompt, or were put back because the model's context was exceeded. */
  #returned: Opened[] = [];
  readonly #seen = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #read: ReadonlySet<string>[] = [];
  readonly #documents = new Set<string>();
  /** `tell` is called with each query and each section. */
  constructor(
    private readonly source: Source,
    private readonly tell: (progress: Partial<Progress>) => void,
  ) {}

  get isEmpty(): boolean {
    return this.#waiting.length + this.#returned.length === 0;
  }

  /** Reports how many sections have been opened, and how many are known. */
  say(step: "read" | "note"): void {
    const done = this.#read.length;
    this.tell({ step, done, of: done + this.#waiting.length, pages: this.#documents.size });
  }

  /** Searches for those of `queries` that are new, and adds the passages to the queue. */
  async search(queries: readonly string[]): Promise<void> {
    const fresh = [...new Set(queries)].filter((query) => !this.#asked.has(query));
    const passageLists: Passage[][] = [];
    for (const query of fresh) {
      this.tell({ step: "search", done: passageLists.length, of: fresh.length });
      this.#asked.add(query);
      const hits = await this.source.search(query, PER_QUERY);
      passageLists.push(hits.map(({ passage }) => passage));
    }
    // A single shared word says little about the subject of a passage.
    const strong = passageLists.map((passages, i) =>
      passages.filter((passage) => hasTwoShared(passage, fresh[i] ?? "")),
    );
    const weak = passageLists.map((passages, i) =>
      passages.filter((passage) => !strong[i]?.includes(passage)),
    );
    this.#waiting = [...interleaveLists(strong), ...this.#waiting, ...interleaveLists(weak)];
  }

  /** Returns the next sections, up to `maxBytes` of their texts as JSON strings; at least one if any remains. */
  async takeNext(maxBytes: number): Promise<Opened[]> {
    const sections: Opened[] = [];
    for (let left = maxBytes; left >= 0; ) {
      const section = this.#returned.shift() ?? (await this.#open(Math.min(SECTION_BYTES, maxBytes)));
      if (section === undefined) break;
      left -= Buffer.byteLength(JSON.stringify(buildSectionInput(section, sections.length + 1))) + 2;
      if (left < 0 && sections.length > 0) this.#returned.unshift(section);
      else sections.push(section);
    }
    return sections;
  }

  /** Returns sections to the queue because the model's context was exceeded. Cuts those longer than `maxBytes`. */
  putBack(sections: readonly Opened[], maxBytes: number): void {
    const cut = sections.map((section) => ({
      ...section,
      passages: pickBlocksAround(section.passages, 0, maxBytes),
    }));
    this.#returned = [...cut, ...this.#returned];
  }

  /** Opens the section around the next unread passage. */
  async #open(maxBytes: number): Promise<Opened | undefined> {
    for (let hit = this.#waiting.shift(); hit !== undefined; hit = this.#waiting.shift()) {
      const key = buildKey(hit);
      if (this.#seen.has(key)) continue;
      const { id, line, lines } = hit;
      const opened = await this.source.open(id, line - AROUND, line + lines.length + AROUND);
      const at = opened?.passages.findIndex((passage) => buildKey(passage) === key) ?? -1;
      if (opened === undefined || at < 0) continue;
      const passages = opened.passages.with(at, shortenPassage(hit, maxBytes));
      const chosen = pickBlocksAround(passages, at, maxBytes).filter(
        (passage) => !this.#seen.has(buildKey(passage)),
      );
      for (const passage of chosen) this.#seen.add(buildKey(passage));
      const chosenWords = new Set(chosen.flatMap((passage) => splitIntoStems(passage.lines.join(" "))));
      if (this.#read.some((other) => measureWordOverlap(other, chosenWords) > SAME)) continue;
      this.#read.push(chosenWords);
      this.#documents.add(id);
      this.say("read");
      return { document: opened.document, passages: chosen };
    }
    return undefined;
  }
}

/**
 * Returns block `at` and its neighbours under the same heading or its subheadings, as many as fit into `maxBytes`. A long
 * paragraph is split into several blocks. If not all of them fit, its blocks are left out, except block `at`.
 */
function pickBlocksAround(passages: readonly Passage[], at: number, maxBytes: number): Passage[] {
  const heading = passages[at]?.heading ?? "";
  let left = Math.min(maxBytes, heading === "" ? PLAIN_BYTES : maxBytes) - measureSize(passages[at]);
  const isFitting = (passage: Passage | undefined) => {
    if (passage === undefined || measureSize(passage) > left) return false;
    if (passage.heading !== heading && !passage.heading.startsWith(`${heading} / `)) return false;
    left -= measureSize(passage);
    return true;
  };
  let [first, last] = [at, at];
  for (let grown = 0; grown < last - first + 1; ) {
    grown = last - first + 1;
    if (isFitting(passages[last + 1])) last += 1;
    if (isFitting(passages[first - 1])) first -= 1;
  }
  while (first < at && isSplit(passages[first - 1], passages[first])) first += 1;
  while (last > at && isSplit(passages[last], passages[last + 1])) last -= 1;
  return passages.slice(first, last + 1);
}

function isSplit(passage: Passage | undefined, next: Passage | undefined): boolean {
  return (
    passage?.kind === "prose" &&
    passage.lines.length >= MAX_LINES &&
    next?.line === passage.line + passage.lines.length
  );
}

/** Cuts a passage to `maxBytes`, but never within a character. The rest cannot be quoted. */
function shortenPassage(passage: Passage, maxBytes: number): Passage {
  const bytes = Buffer.from(passage.lines.join("\n")).subarray(0, maxBytes);
  return { ...passage, lines: new TextDecoder().decode(bytes, { stream: true }).split("\n") };
}

function measureSize(passage: Passage | undefined): number {
  return passage === undefined ? 0 : Buffer.byteLength(passage.lines.join("\n")) + 2;
}

function buildKey({ id, line, lines }: Passage): string {
  return `${id}:${line}:${lines[0]}`;
}

/** Returns whether a passage contains two words of a query, or the only word of a shorter query. */
function hasTwoShared({ id, heading, header = [], lines }: Passage, query: string): boolean {
  const queryWords = new Set(splitIntoStems(query));
  const passageWords = new Set(splitIntoStems([id, heading, ...header, ...lines].join("\n")));
  return [...queryWords].filter((word) => passageWords.has(word)).length >= Math.min(2, queryWords.size);
}

/** Returns the first item of each list, then the second of each, and so on. */
function interleaveLists<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Returns the share of words that two texts have in common, 0 to 1. */
function measureWordOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared / Math.max(1, a.size + b.size - shared);
}
