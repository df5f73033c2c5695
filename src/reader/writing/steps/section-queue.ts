import type { Progress } from "../../../core/researcher.js";
import type { Opened, Passage, Source } from "../../finding/source.js";
import { measureLikeness, splitWords } from "../../matching/words.js";
import { MAX_LINES } from "../../reading/blocks/block.js";
import { buildSectionInput } from "../prompts.js";

/** How many passages of one query are looked at. */
const PER_QUERY = 15;
/** How much of a document is opened around a passage at most, in bytes, and how far it is looked for, in lines. */
const SECTION_BYTES = 8_000;
const AROUND = 200;
/** The same where no heading says what belongs together: some paragraphs. */
const PLAIN_BYTES = 2_000;
/** Sections that share more of their words than this say the same. */
const SAME = 0.9;

/** What was found and has not been read: whole sections around the best passages of each query. */
export class SectionQueue {
  #waiting: Passage[] = [];
  /** Sections that were read for a request which did not fit. */
  #returned: Opened[] = [];
  readonly #seen = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #read: ReadonlySet<string>[] = [];
  readonly #documents = new Set<string>();
  /** `tell` is told of each query and each section. */
  constructor(
    private readonly source: Source,
    private readonly tell: (progress: Partial<Progress>) => void,
  ) {}

  get isEmpty(): boolean {
    return this.#waiting.length + this.#returned.length === 0;
  }

  /** Tells how many sections were read, of those that are known to wait too. */
  say(step: "read" | "note"): void {
    const done = this.#read.length;
    this.tell({ step, done, of: done + this.#waiting.length, pages: this.#documents.size });
  }

  /** Searches for what was not searched for before. */
  async search(queries: readonly string[]): Promise<void> {
    const fresh = [...new Set(queries)].filter((query) => !this.#asked.has(query));
    const passageLists: Passage[][] = [];
    for (const query of fresh) {
      this.tell({ step: "search", done: passageLists.length, of: fresh.length });
      this.#asked.add(query);
      const hits = await this.source.search(query, PER_QUERY);
      passageLists.push(hits.map(({ passage }) => passage));
    }
    // One word alone, in whatever passage, says little of what it is about.
    const strong = passageLists.map((passages, i) =>
      passages.filter((passage) => hasTwoShared(passage, fresh[i] ?? "")),
    );
    const weak = passageLists.map((passages, i) =>
      passages.filter((passage) => !strong[i]?.includes(passage)),
    );
    this.#waiting = [...interleaveLists(strong), ...this.#waiting, ...interleaveLists(weak)];
  }

  /** The next sections, as many as `getMaxBytes` of their texts in a JSON string allow; at least one if there is one. */
  async takeNext(maxBytes: number): Promise<Opened[]> {
    const taken: Opened[] = [];
    for (let left = maxBytes; left >= 0; ) {
      const section = this.#returned.shift() ?? (await this.#open(Math.min(SECTION_BYTES, maxBytes)));
      if (section === undefined) break;
      left -= Buffer.byteLength(JSON.stringify(buildSectionInput(section, taken.length + 1))) + 2;
      if (left < 0 && taken.length > 0) this.#returned.unshift(section);
      else taken.push(section);
    }
    return taken;
  }

  /** Gives back what did not fit; what of it is longer than `getMaxBytes` is cut. */
  putBack(sections: readonly Opened[], maxBytes: number): void {
    const cut = sections.map((section) => ({
      ...section,
      passages: pickAround(section.passages, 0, maxBytes),
    }));
    this.#returned = [...cut, ...this.#returned];
  }

  /** The section around the next passage that was not read yet. */
  async #open(maxBytes: number): Promise<Opened | undefined> {
    for (let hit = this.#waiting.shift(); hit !== undefined; hit = this.#waiting.shift()) {
      const key = buildKey(hit);
      if (this.#seen.has(key)) continue;
      const { id, line, lines } = hit;
      const opened = await this.source.open(id, line - AROUND, line + lines.length + AROUND);
      const at = opened?.passages.findIndex((passage) => buildKey(passage) === key) ?? -1;
      if (opened === undefined || at < 0) continue;
      const passages = opened.passages.with(at, shortenPassage(hit, maxBytes));
      const chosen = pickAround(passages, at, maxBytes).filter(
        (passage) => !this.#seen.has(buildKey(passage)),
      );
      for (const passage of chosen) this.#seen.add(buildKey(passage));
      const chosenWords = new Set(chosen.flatMap((passage) => splitWords(passage.lines.join(" "))));
      if (this.#read.some((other) => measureLikeness(other, chosenWords) > SAME)) continue;
      this.#read.push(chosenWords);
      this.#documents.add(id);
      this.say("read");
      return { document: opened.document, passages: chosen };
    }
    return undefined;
  }
}

/**
 * The blocks around number `at` under its heading and those within it, as many as `getMaxBytes` allow. A long paragraph is
 * several blocks, and is not cut unless it is the one that was found.
 */
function pickAround(passages: readonly Passage[], at: number, maxBytes: number): Passage[] {
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

/** A passage with as much of its text as fits, in whole characters; its rest cannot be quoted. */
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

/** Whether a passage has two words of a query, or one where it has no more. */
function hasTwoShared({ id, heading, header = [], lines }: Passage, query: string): boolean {
  const asked = new Set(splitWords(query));
  const passageWords = new Set(splitWords([id, heading, ...header, ...lines].join("\n")));
  return [...asked].filter((word) => passageWords.has(word)).length >= Math.min(2, asked.size);
}

/** The first of each list, then the second of each, and so on. */
function interleaveLists<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
