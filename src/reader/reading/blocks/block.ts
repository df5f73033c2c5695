/** A paragraph, list item, row or piece of code of a file. */
export interface Block {
  /** The number of its first line, from 1. */
  line: number;
  /** One entry for each line of the file from `line` on: HTML without tags, other text as it is. An entry of code may hold line breaks. */
  lines: string[];
  /** The headings above it, outermost first, joined by " / "; empty without headings. */
  heading: string;
  /** Comments in a file of code, and code blocks in a document, are code, too. */
  kind: "prose" | "table" | "code";
  /** The cells of a table row. */
  cells?: string[];
  /** The column titles of a table row. */
  header?: string[];
  /** The text right before the table. */
  caption?: string;
  /** Identifies the table of a row: the number of the table's first line, or of its first row on that line. */
  table?: number;
}

/** Longer blocks are split, so that each is about one subject. */
export const MAX_LINES = 20;
/** Longer lines are data or minified code, which cannot be quoted, in characters. */
export const MAX_LINE = 4_000;

/** Estimates the memory of blocks in bytes. The rows of a table share its header. */
export function measureMemory(blocks: readonly Block[]): number {
  let sum = 0;
  for (const { lines, cells = [] } of blocks) {
    sum += 100;
    for (const text of lines) sum += 20 + text.length;
    for (const text of cells) sum += 20 + text.length;
  }
  return sum;
}

/** Joins blocks to readable text below the lines of `about`: each heading, term and table header once, over its blocks. */
export function joinBlocks(blocks: readonly Block[], ...about: (string | null | undefined)[]): string {
  let above: string[] = [];
  let columns = "";
  const texts = blocks.flatMap(({ lines, heading, header = [] }) => {
    const over = heading === "" ? [] : heading.split(" / ");
    const common = over.findIndex((each, i) => each !== above[i]);
    const begun = common < 0 ? [] : over.slice(common);
    const head = header.join(" | ");
    if (head !== "" && head !== columns) begun.push(head);
    above = over;
    columns = head;
    return [...begun, lines.join("\n")];
  });
  return `${[about.filter(Boolean).join("\n"), ...texts].join("\n\n")}\n`;
}

/** How much of the text before a table is its caption, in characters. */
const MAX_CAPTION = 400;

/** Returns the text of the last block as the caption of a table that follows; undefined if it does not belong to the table. */
export function findCaptionAfter(blocks: readonly Block[], heading: string): string | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "prose" || last.heading !== heading) return undefined;
  return last.lines.join(" ").slice(-MAX_CAPTION);
}

/** The rank of terms of a definition list, after headings (1 to 6); nested terms have higher ranks. */
export const TERM = 10;
/** The rank of a bold paragraph, which is a title unless it ends like a sentence or introduces the next paragraph. */
export const TITLE = TERM - 0.5;
export const isTitle = (text: string): boolean => text.length <= MAX_TITLE && !/[.!:;,]$/.test(text);
const MAX_TITLE = 120;
/** Deeper terms and longer texts are left out: they hardly identify a place and lengthen the heading of each block. */
const MAX_RANK = TERM + 10;
const MAX_HEADING = 1_000;

interface Heading {
  /** 1 is the outermost. */
  rank: number;
  text: string;
  line: number;
}

/** The headings above a place in a document, and below them the terms of a definition list. */
export class Headings {
  #over: Heading[] = [];
  /** Whether the last heading has no text below it yet. */
  #isBare = false;

  /** `blocks`: receives each heading that ends without text below it, as a block of its own. */
  constructor(private readonly blocks: Block[]) {}

  /** Begins a heading and ends all headings of its rank or deeper. */
  begin({ rank, text, line }: Heading): void {
    const ownRank = Math.min(rank, MAX_RANK);
    this.end(ownRank);
    if (text === "") return;
    this.#over.push({ rank: ownRank, text: text.slice(0, MAX_HEADING), line });
    this.#isBare = true;
  }

  /** Ends the headings of `rank` and deeper. */
  end(rank = 0): void {
    if ((this.#over.at(-1)?.rank ?? -1) < rank) return;
    const bare = this.#isBare ? this.#over.pop() : undefined;
    if (bare) this.blocks.push({ line: bare.line, lines: [bare.text], heading: `${this}`, kind: "prose" });
    this.#over = this.#over.filter((heading) => heading.rank < rank);
    this.#isBare = false;
  }

  /** Adds another term for the same definitions. */
  join({ text, line, rank }: Heading): void {
    const last = this.#over.at(-1);
    if (this.#isBare && last?.rank === Math.min(rank, MAX_RANK))
      last.text = `${last.text}, ${text}`.slice(0, MAX_HEADING);
    else this.begin({ text, line, rank });
  }

  /** Marks the last heading as used and returns all headings, joined. */
  use(): string {
    this.#isBare = false;
    return `${this}`;
  }

  toString(): string {
    return this.#over.map(({ text }) => text).join(" / ");
  }
}
