/** A piece of a file that belongs together. */
export interface Block {
  /** Number of its first line, from 1. */
  line: number;
  /** One entry for each line of the file from `line` on, as it reads: HTML without tags, everything else as it is. One of code may hold line breaks. */
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

/** What blocks take in memory, about, in bytes. The header of a table is shared by its rows. */
export function measureMemory(blocks: readonly Block[]): number {
  let sum = 0;
  for (const { lines, cells = [] } of blocks) {
    sum += 100;
    for (const text of lines) sum += 20 + text.length;
    for (const text of cells) sum += 20 + text.length;
  }
  return sum;
}

/** Joins blocks to the text that a person reads, below what is `about` them: each heading, term and head of columns once, over what it belongs to. */
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

/** How much of the text before a table says what the table is about, in characters. */
const MAX_CAPTION = 400;

/** The text of the last block if a table that begins after it belongs to it. */
export function findCaptionAfter(blocks: readonly Block[], heading: string): string | undefined {
  const last = blocks.at(-1);
  if (last?.kind !== "prose" || last.heading !== heading) return undefined;
  return last.lines.join(" ").slice(-MAX_CAPTION);
}

/** Behind the headings of a document (1 to 6) come the terms of its lists of definitions: this, and more if they are nested. */
export const TERM = 10;
/** A paragraph that is bold as a whole is a title between them, if it does not end like a sentence or what leads to the next one. */
export const TITLE = TERM - 0.5;
export const isTitle = (text: string): boolean => text.length <= MAX_TITLE && !/[.!:;,]$/.test(text);
const MAX_TITLE = 120;
/** Terms that are nested deeper, and what is longer, tell no more of a place, and cost each of its blocks a longer heading. */
const MAX_RANK = TERM + 10;
const MAX_HEADING = 1_000;

interface Heading {
  /** 1 is the outermost. */
  rank: number;
  text: string;
  line: number;
}

/** The headings above a place in a document, and below them the terms of a list of definitions. */
export class Headings {
  #over: Heading[] = [];
  /** Whether nothing stands under the last one yet. */
  #isBare = false;

  /** `found`: where a heading goes that ends with nothing under it: it is a text of its own. */
  constructor(private readonly blocks: Block[]) {}

  /** A heading begins: it ends all that are not further out. */
  begin({ rank, text, line }: Heading): void {
    const ownRank = Math.min(rank, MAX_RANK);
    this.end(ownRank);
    if (text === "") return;
    this.#over.push({ rank: ownRank, text: text.slice(0, MAX_HEADING), line });
    this.#isBare = true;
  }

  /** Takes back the headings of `rank` and further in. */
  end(rank = 0): void {
    if ((this.#over.at(-1)?.rank ?? -1) < rank) return;
    const bare = this.#isBare ? this.#over.pop() : undefined;
    if (bare) this.blocks.push({ line: bare.line, lines: [bare.text], heading: `${this}`, kind: "prose" });
    this.#over = this.#over.filter((heading) => heading.rank < rank);
    this.#isBare = false;
  }

  /** Another term of the same definitions. */
  join({ text, line, rank }: Heading): void {
    const last = this.#over.at(-1);
    if (this.#isBare && last?.rank === Math.min(rank, MAX_RANK))
      last.text = `${last.text}, ${text}`.slice(0, MAX_HEADING);
    else this.begin({ text, line, rank });
  }

  /** Something stands under the last one: what they are, joined. */
  use(): string {
    this.#isBare = false;
    return `${this}`;
  }

  toString(): string {
    return this.#over.map(({ text }) => text).join(" / ");
  }
}
