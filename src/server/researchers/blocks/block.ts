/** A piece of a file that belongs together. */
export interface Block {
  /** Number of its first line, from 1. */
  line: number;
  /** One entry for each line of the file from `line` on, as it reads: HTML without tags, everything else as it is. */
  lines: string[];
  /** The headings above it, outermost first, joined by " / "; empty if there are none. */
  heading: string;
  /** What a file of code says in a comment, and a block of code in a document, are code too. */
  kind: "prose" | "table" | "code";
  /** The cells, if this is a row of a table. */
  cells?: string[];
  /** The titles of the columns. */
  header?: string[];
  /** The text right before the table. */
  caption?: string;
  /** Says which rows belong to one table: the number of its first line, or of its first row on that line. */
  table?: number;
}

/** Longer blocks are cut, so that each stays about one thing. */
export const MAX_LINES = 20;
/** Lines with more characters are data or minified code: useless as a quote. */
export const MAX_LINE = 4_000;

/** How much of the text before a table says what the table is about, in characters. */
const MAX_CAPTION = 400;

/** The text of the last block if a table that begins after it belongs to it. */
export function captionAfter(blocks: readonly Block[], heading: string): string | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "prose" || last.heading !== heading) return undefined;
  return last.lines.join(" ").slice(-MAX_CAPTION);
}

/** The headings above a place in a document: those by rank, and below them the terms of a list of definitions. */
export class Headings {
  #ranked: { rank: number; text: string }[] = [];
  #terms: string[] = [];
  /** A heading of `rank` (1 is the outermost) begins: it ends all that are not further out. */
  begin(rank: number, text: string): void {
    this.#ranked = this.#ranked.filter((heading) => heading.rank < rank);
    if (text !== "") this.#ranked.push({ rank, text });
    this.#terms = [];
  }

  /** The terms in force at this depth of nested lists of definitions (0 is the outermost). */
  term(depth: number, text: string): void {
    this.endTerms(depth);
    this.#terms.push(text);
  }

  /** Takes back the terms of lists that are nested deeper than `depth`. */
  endTerms(depth = 0): void {
    this.#terms.length = Math.min(this.#terms.length, depth);
  }

  toString(): string {
    return [...this.#ranked.map(({ text }) => text), ...this.#terms].filter(Boolean).join(" / ");
  }
}
