import type { Progress } from "../../../core/researcher.js";
import type { Opened, Passage, Source } from "../../finding/source.js";
import { likeness, words } from "../../matching/words.js";
import { MAX_LINES } from "../../reading/blocks/block.js";
import { sectionInput } from "../prompts.js";

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
    const found: Passage[][] = [];
    for (const query of fresh) {
      this.tell({ step: "search", done: found.length, of: fresh.length });
      this.#asked.add(query);
      const hits = await this.source.search(query, PER_QUERY);
      found.push(hits.map(({ passage }) => passage));
    }
    // One word alone, in whatever passage, says little of what it is about.
    const strong = found.map((passages, i) => passages.filter((one) => sharesTwo(one, fresh[i] ?? "")));
    const weak = found.map((passages, i) => passages.filter((one) => !strong[i]?.includes(one)));
    this.#waiting = [...interleaved(strong), ...this.#waiting, ...interleaved(weak)];
  }

  /** The next sections, as many as `maxBytes` of their texts in a JSON string allow; at least one if there is one. */
  async next(maxBytes: number): Promise<Opened[]> {
    const taken: Opened[] = [];
    for (let left = maxBytes; left >= 0; ) {
      const section = this.#returned.shift() ?? (await this.#open(Math.min(SECTION_BYTES, maxBytes)));
      if (section === undefined) break;
      left -= Buffer.byteLength(JSON.stringify(sectionInput(section, taken.length + 1))) + 2;
      if (left < 0 && taken.length > 0) this.#returned.unshift(section);
      else taken.push(section);
    }
    return taken;
  }

  /** Gives back what did not fit; what of it is longer than `maxBytes` is cut. */
  putBack(sections: readonly Opened[], maxBytes: number): void {
    const cut = sections.map((one) => ({ ...one, passages: around(one.passages, 0, maxBytes) }));
    this.#returned = [...cut, ...this.#returned];
  }

  /** The section around the next passage that was not read yet. */
  async #open(maxBytes: number): Promise<Opened | undefined> {
    for (let hit = this.#waiting.shift(); hit !== undefined; hit = this.#waiting.shift()) {
      const key = keyOf(hit);
      if (this.#seen.has(key)) continue;
      const { id, line, lines } = hit;
      const opened = await this.source.open(id, line - AROUND, line + lines.length + AROUND);
      const at = opened?.passages.findIndex((passage) => keyOf(passage) === key) ?? -1;
      if (opened === undefined || at < 0) continue;
      const passages = opened.passages.with(at, shortened(hit, maxBytes));
      const chosen = around(passages, at, maxBytes).filter((passage) => !this.#seen.has(keyOf(passage)));
      for (const passage of chosen) this.#seen.add(keyOf(passage));
      const own = new Set(chosen.flatMap((passage) => words(passage.lines.join(" "))));
      if (this.#read.some((other) => likeness(other, own) > SAME)) continue;
      this.#read.push(own);
      this.#documents.add(id);
      this.say("read");
      return { document: opened.document, passages: chosen };
    }
    return undefined;
  }
}

/**
 * The blocks around number `at` under its heading and those within it, as many as `maxBytes` allow. A long paragraph is
 * several blocks, and is not cut unless it is the one that was found.
 */
function around(passages: readonly Passage[], at: number, maxBytes: number): Passage[] {
  const heading = passages[at]?.heading ?? "";
  let left = Math.min(maxBytes, heading === "" ? PLAIN_BYTES : maxBytes) - sizeOf(passages[at]);
  const fits = (passage: Passage | undefined) => {
    if (passage === undefined || sizeOf(passage) > left) return false;
    if (passage.heading !== heading && !passage.heading.startsWith(`${heading} / `)) return false;
    left -= sizeOf(passage);
    return true;
  };
  let [first, last] = [at, at];
  for (let grown = 0; grown < last - first + 1; ) {
    grown = last - first + 1;
    if (fits(passages[last + 1])) last += 1;
    if (fits(passages[first - 1])) first -= 1;
  }
  while (first < at && isSplit(passages[first - 1], passages[first])) first += 1;
  while (last > at && isSplit(passages[last], passages[last + 1])) last -= 1;
  return passages.slice(first, last + 1);
}

function isSplit(one: Passage | undefined, next: Passage | undefined): boolean {
  return one?.kind === "prose" && one.lines.length >= MAX_LINES && next?.line === one.line + one.lines.length;
}

/** A passage with as much of its text as fits, in whole characters; its rest cannot be quoted. */
function shortened(passage: Passage, maxBytes: number): Passage {
  const bytes = Buffer.from(passage.lines.join("\n")).subarray(0, maxBytes);
  return { ...passage, lines: new TextDecoder().decode(bytes, { stream: true }).split("\n") };
}

function sizeOf(passage: Passage | undefined): number {
  return passage === undefined ? 0 : Buffer.byteLength(passage.lines.join("\n")) + 2;
}

function keyOf({ id, line, lines }: Passage): string {
  return `${id}:${line}:${lines[0]}`;
}

/** Whether a passage has two words of a query, or one where it has no more. */
function sharesTwo({ id, heading, header = [], lines }: Passage, query: string): boolean {
  const asked = new Set(words(query));
  const said = new Set(words([id, heading, ...header, ...lines].join("\n")));
  return [...asked].filter((word) => said.has(word)).length >= Math.min(2, asked.size);
}

/** The first of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
