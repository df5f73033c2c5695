/** A paragraph, list item, table row or piece of code. */
export interface Block {
  /** The number of the block's first line, from 1. */
  line: number;
  /** One entry per line of the file, from `line` on. HTML has no tags; other text is unchanged. An entry of code may contain line breaks. */
  lines: string[];
  /** The headings above the block, outermost first, joined by " / "; empty without headings. */
  heading: string;
  /** The kind. Comments in a file of code, and code blocks in a document, are "code" as well. */
  kind: "prose" | "table" | "code";
  /** The cells of a table row. */
  cells?: string[];
  /** The column titles of a table row. */
  header?: string[];
  /** The text just before the table. */
  caption?: string;
  /** Identifies the table of a row: the number of the table's first line; in HTML the number of the table in the page. */
  table?: number;
}

/** The most lines of a block. Longer ones are split, so that each is about one subject. */
export const MAX_LINES = 20;
/** The longest line in characters. Longer ones are data or minified code and are left out. */
export const MAX_LINE = 4_000;

/** Estimates the memory of blocks in bytes. The rows of a table share the memory of the header. */
export function measureMemory(blocks: readonly Block[]): number {
  let sum = 0;
  for (const { lines, cells = [] } of blocks) {
    sum += 100;
    for (const text of lines) sum += 20 + text.length;
    for (const text of cells) sum += 20 + text.length;
  }
  return sum;
}

/** Joins the texts of blocks, after the lines of `about`. Writes each heading and table header once, above its first block. */
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

/** How many characters of the text before a table are used as its caption. */
const MAX_CAPTION = 400;

/** Returns the text of the last block as the caption of the table that follows; undefined if it is not under the same heading. */
export function getCaptionForNextTable(blocks: readonly Block[], heading: string): string | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "prose" || last.heading !== heading) return undefined;
  return last.lines.join(" ").slice(-MAX_CAPTION);
}

/** The rank of the terms of a definition list, below headings (1 to 6); nested terms have higher ranks. */
export const TERM = 10;
/** The rank of a bold paragraph that is a title, which does not end like a sentence. */
export const TITLE = TERM - 0.5;
export const isTitle = (text: string): boolean => text.length <= MAX_TITLE && !/[.!:;,]$/.test(text);
const MAX_TITLE = 120;
/** The highest rank and the longest text of a heading. More would hardly identify a place, and lengthen the heading of each block. */
const MAX_RANK = TERM + 10;
const MAX_HEADING = 1_000;

interface Heading {
  /** The depth of the heading; 1 is the outermost. */
  rank: number;
  text: string;
  line: number;
}

/** The headings above a place in a document, including the terms of a definition list. */
export class HeadingStack {
  #over: Heading[] = [];
  /** Whether there is no text below the last heading yet. */
  #isBare = false;

  /** A heading that ends without text below it is added to `blocks` as a block. */
  constructor(private readonly blocks: Block[]) {}

  /** Begins a heading. Ends the headings of the same rank or deeper. */
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

  /** Adds a term. If the previous term has no text yet, both have the same definition, and the terms are joined. */
  join({ text, line, rank }: Heading): void {
    const last = this.#over.at(-1);
    if (this.#isBare && last?.rank === Math.min(rank, MAX_RANK))
      last.text = `${last.text}, ${text}`.slice(0, MAX_HEADING);
    else this.begin({ text, line, rank });
  }

  /** Notes that text follows the last heading. Returns all headings, joined. */
  use(): string {
    this.#isBare = false;
    return `${this}`;
  }

  toString(): string {
    return this.#over.map(({ text }) => text).join(" / ");
  }
}
