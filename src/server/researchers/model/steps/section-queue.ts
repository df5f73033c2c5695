import type { Passage, Source } from "../../sources/source.js";
import { words } from "../../sources/words.js";
import { type Section, sectionInput } from "../prompts.js";
import type { ModelSession } from "../session/session.js";

/** How many passages of one query are looked at. */
const PER_QUERY = 15;
/** How much of a document is opened around a passage at most, in bytes, and how far it is looked for, in lines. */
const SECTION_BYTES = 8_000;
const AROUND = 200;
/** Sections that share more of their words than this say the same. */
const SAME = 0.9;

/** What was found and has not been read: whole sections around the best passages of each query. */
export class SectionQueue {
  #waiting: Passage[] = [];
  /** Sections that were read for a request which did not fit. */
  #returned: Section[] = [];
  readonly #seen = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #read: ReadonlySet<string>[] = [];
  readonly #documents = new Set<string>();
  #count = 0;
  constructor(
    private readonly source: Source,
    private readonly session: Pick<ModelSession, "interruptible" | "isSecret">,
  ) {}

  /** Sections that were read, those that are known to wait, and documents that were opened. */
  get counts(): { read: number; waiting: number; documents: number } {
    return { read: this.#count, waiting: this.#waiting.length, documents: this.#documents.size };
  }

  get isEmpty(): boolean {
    return this.#waiting.length + this.#returned.length === 0;
  }

  /** Searches for what was not searched for before, and tells `each` after every query. */
  async search(queries: readonly string[], each: (done: number, of: number) => void): Promise<void> {
    const fresh = [...new Set(queries)].filter((query) => !this.#asked.has(query));
    const found: Passage[][] = [];
    for (const query of fresh) {
      each(found.length, fresh.length);
      this.#asked.add(query);
      const hits = await this.session.interruptible(this.source.search(query, PER_QUERY));
      found.push(hits.map(({ passage }) => passage));
    }
    this.#waiting = [
      ...interleaved(found).filter((passage) => !this.#seen.has(keyOf(passage))),
      ...this.#waiting,
    ];
  }

  /** The next sections, as many as `maxBytes` of their texts in a JSON string allow; at least one if there is one. */
  async next(maxBytes: number, each: () => void): Promise<Section[]> {
    const taken: Section[] = [];
    let left = maxBytes;
    for (;;) {
      const section = this.#returned.shift() ?? (await this.#open(Math.min(SECTION_BYTES, maxBytes)));
      if (section === undefined) return taken;
      left -= Buffer.byteLength(JSON.stringify(sectionInput(section, taken.length + 1))) + 2;
      if (left < 0 && taken.length > 0) {
        this.#returned.unshift(section);
        return taken;
      }
      taken.push(section);
      each();
      if (left < 0) return taken;
    }
  }

  /** Gives back what did not fit; what of it is longer than `maxBytes` is cut. */
  putBack(sections: readonly Section[], maxBytes: number): void {
    const cut = sections.map(({ document, passages }) => ({
      document,
      passages: within(passages, 0, maxBytes),
    }));
    this.#returned = [...cut, ...this.#returned];
  }

  /** The section around the next passage that was not read yet. */
  async #open(maxBytes: number): Promise<Section | undefined> {
    for (let hit = this.#waiting.shift(); hit !== undefined; hit = this.#waiting.shift()) {
      if (this.#seen.has(keyOf(hit))) continue;
      const { id, line, lines } = hit;
      const opened = await this.session.interruptible(
        this.source.open(id, line - AROUND, line + lines.length + AROUND),
      );
      const passages = (opened?.passages ?? []).filter(
        (passage) => !passage.lines.some((text) => this.session.isSecret(text)),
      );
      const at = passages.findIndex((passage) => keyOf(passage) === keyOf(hit));
      if (opened === undefined || at < 0) continue;
      passages[at] = shortened(hit, maxBytes);
      const chosen = within(passages, at, maxBytes).filter((passage) => !this.#seen.has(keyOf(passage)));
      for (const passage of chosen) this.#seen.add(keyOf(passage));
      const own = new Set(chosen.flatMap((passage) => words(passage.lines.join(" "))));
      if (this.#read.some((other) => isAlike(other, own))) continue;
      this.#read.push(own);
      this.#documents.add(id);
      this.#count += 1;
      return { document: opened.document, passages: chosen };
    }
    return undefined;
  }
}

/** The blocks around number `at` under its heading and those within it, as many as `maxBytes` allow. */
function within(passages: readonly Passage[], at: number, maxBytes: number): Passage[] {
  const heading = passages[at]?.heading ?? "";
  const belongs = (passage: Passage | undefined) =>
    passage !== undefined && (passage.heading === heading || passage.heading.startsWith(`${heading} / `));
  let first = at;
  let last = at;
  let left = maxBytes - sizeOf(passages[at]);
  for (let isOpen = true; isOpen; ) {
    isOpen = false;
    for (const [next, move] of [
      [passages[last + 1], () => (last += 1)],
      [passages[first - 1], () => (first -= 1)],
    ] as const) {
      if (!belongs(next) || sizeOf(next) > left) continue;
      left -= sizeOf(next);
      move();
      isOpen = true;
    }
  }
  return passages.slice(first, last + 1);
}

/** A passage with as much of its lines as fits; its rest cannot be quoted. */
function shortened(passage: Passage, maxBytes: number): Passage {
  const lines: string[] = [];
  let left = maxBytes;
  for (const line of passage.lines) {
    // A character takes at most four bytes.
    const kept = Buffer.byteLength(line) > left ? line.slice(0, Math.floor(left / 4)) : line;
    if (kept !== "" || line === "") lines.push(kept);
    left -= Buffer.byteLength(line) + 1;
    if (left <= 0) break;
  }
  return { ...passage, lines };
}

function sizeOf(passage: Passage | undefined): number {
  return passage === undefined ? 0 : Buffer.byteLength(passage.lines.join("\n")) + 2;
}

function keyOf({ id, line, lines }: Passage): string {
  return `${id}:${line}:${lines[0]}`;
}

function isAlike(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared > SAME * (a.size + b.size - shared);
}

/** The first of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
