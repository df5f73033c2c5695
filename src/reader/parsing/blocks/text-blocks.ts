import {
  type Block,
  getCaptionForNextTable,
  HeadingStack,
  isTitle,
  MAX_LINE,
  MAX_LINES,
  TERM,
  TITLE,
} from "./block.js";

/** The format of a text, which determines the marks that have a meaning. */
export type TextFormat = "markdown" | "text";

const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+\S/;
const LINK_DEFINITION = /^ {0,3}\[[^\]\n]{1,200}\]:\s*\S/;
/** Matches rules and table borders, which are not text. */
const NO_TEXT = /^\s*(?:([-*_=~+^.])(?:\s?\1)*|\+(?:[-=]+\+)+)\s*$/;
const UNDERLINE = /^([=\-~^"'`#*+])\1{2,}\s*$/;
const NUMBERED =
  /^ {0,3}(?:\d+(?:\.\d+)*\.?|[A-Z]\.|(?:Section|Article|Chapter|Appendix)\s+\w+[.:]?)\s+\p{Lu}.{1,80}$/u;
const BOLD = /^(\*\*|__)(?! )([^*_]+)\1\s*$/;
const CAPITALS = /^[^\p{Ll}=_;{}$<>|]*\p{Lu}{3}[^\p{Ll}=_;{}$<>|]*$/u;
/** The longest heading or term in plain text, in characters. */
const MAX_TERM = 80;
const RANKS = "=-~^";

/** Splits a document of prose into blocks: at blank lines, marks and headings, and after `most` lines. */
export function readTextBlocks(text: string, format: TextFormat, most = MAX_LINES): Block[] {
  return new TextReader(text.split(/\r\n|\n|\r/), format, most).read();
}

class TextReader {
  readonly #found: Block[] = [];
  readonly #headings = new HeadingStack(this.#found);
  #block: Block | undefined;
  /** Whether the lines of the block are terms, as in a manual: each has a more deeply indented line below it. */
  #isTerm = false;
  /** The fence that ends the code block; undefined outside of code. */
  #fence: string | undefined;
  /** Whether the text begins with a Markdown title. Otherwise, a single # may be a comment or prompt of a shell. */
  readonly #hasTitle: boolean;
  #inComment = false;
  #table: (Pick<Block, "header" | "caption"> & { table: number }) | undefined;
  constructor(
    private readonly lines: readonly string[],
    private readonly format: TextFormat,
    private readonly most: number,
  ) {
    this.#hasTitle = /^# \S/.test(lines.find((line) => line.trim() !== "") ?? "");
  }

  read(): Block[] {
    for (let i = 0; i < this.lines.length; i++) {
      if (this.#fence !== undefined) this.#readCode(i);
      else i += this.#getLine(i);
    }
    this.#close();
    this.#headings.end();
    return this.#found;
  }

  /** Reads line `i`. Returns how many of the following lines it has read as well. */
  #getLine(i: number): number {
    const raw = this.lines[i] ?? "";
    const text = this.#removeComments(raw);
    if (text.trim() === "" || text.length > MAX_LINE) {
      this.#close();
      this.#table = undefined;
      return 0;
    }
    const underlined = this.#rankUnderline(i, text);
    if (underlined > 0) {
      this.#addHeading(underlined, text, i + 1);
      return 1;
    }
    if (this.#isFenceOpening(text) || this.#isHeading(i, text)) return 0;
    if (LINK_DEFINITION.test(text) || NO_TEXT.test(text)) {
      this.#close();
      return 0;
    }
    if (/^\s*\|/.test(text)) this.#addRow(i, text);
    else {
      this.#table = undefined;
      if (ITEM.test(text)) this.#close();
      this.#add(i, text, "prose");
    }
    return 0;
  }

  #removeComments(raw: string): string {
    const [before = "", ...comments] = (this.#inComment ? `<!--${raw}` : raw).split("<!--");
    return comments.reduce((kept, comment) => {
      const end = comment.indexOf("-->");
      this.#inComment = end < 0;
      return end < 0 ? kept : kept + comment.slice(end + 3);
    }, before);
  }

  /** Returns the rank of a heading whose next line underlines it; 0 if there is no such heading. */
  #rankUnderline(i: number, text: string): number {
    const under = this.lines[i + 1] ?? "";
    const mark = UNDERLINE.exec(under)?.[1];
    if (mark === undefined || this.#block !== undefined || ITEM.test(text) || /^\s*[|>]/.test(text)) return 0;
    // Wide gaps separate column titles, so it is not a heading.
    if (/\S {3,}\S/.test(text)) return 0;
    const isAsLong = Math.abs(under.trim().length - text.trim().length) <= 3;
    const isUnderline = this.format === "text" ? isAsLong : "=-".includes(mark);
    return isUnderline ? RANKS.indexOf(mark) + 1 || 5 : 0;
  }

  #addHeading(rank: number, text: string, line: number): void {
    this.#close();
    this.#headings.begin({ rank, text: cleanHeading(text), line });
  }

  #isFenceOpening(text: string): boolean {
    const mark = /^\s*(`{3,}|~{3,})[^`]*$/.exec(text)?.[1];
    if (mark === undefined) return false;
    this.#close();
    this.#fence = mark;
    return true;
  }

  #readCode(i: number): void {
    const text = this.lines[i] ?? "";
    const mark = text.trim();
    const fence = this.#fence ?? "";
    if (mark === fence || (mark.startsWith(fence) && /^[`~]+$/.test(mark))) {
      this.#close();
      this.#fence = undefined;
    } else if (text.trim() === "" || text.length > MAX_LINE) this.#close();
    else this.#add(i, text, "code");
  }

  #isHeading(i: number, text: string): boolean {
    const mark = /^(#{1,6})\s+\S/.exec(text)?.[1];
    const isMark = this.format === "markdown" || mark !== "#" || this.#hasTitle;
    if (mark !== undefined && isMark) {
      const rank = mark.length;
      this.#addHeading(rank, text.slice(rank).trim().replace(/ #+$/, ""), i + 1);
      return true;
    }
    const above = this.lines[i - 1] ?? "";
    const alone = (this.lines[i + 1] ?? "").trim() === "" && (above.trim() === "" || NO_TEXT.test(above));
    const bold = alone ? BOLD.exec(text)?.[2] : undefined;
    if (bold !== undefined && isTitle(bold)) {
      this.#addHeading(TITLE, bold, i + 1);
      return true;
    }
    if (this.format === "markdown" || this.#block !== undefined) return false;
    if (!alone || text.trim().length > MAX_TERM) return false;
    if (CAPITALS.test(text.trim())) this.#addHeading(1, text, i + 1);
    else if (NUMBERED.test(text.trimEnd()) && !/[;,]$/.test(text.trim())) this.#addHeading(2, text, i + 1);
    else return false;
    return true;
  }

  #addRow(i: number, text: string): void {
    const cells = splitCells(text);
    const isHead = isTableRule(this.lines[i + 1] ?? "");
    this.#close();
    const heading = this.#headings.toString();
    const caption = getCaptionForNextTable(this.#found, heading);
    this.#table ??= {
      table: i + 1,
      ...(isHead && { header: cells }),
      ...(caption !== undefined && { caption }),
    };
    if (isTableRule(text) || this.#table.header === cells) return;
    this.#headings.use();
    this.#found.push({ line: i + 1, lines: [text], heading, kind: "table", cells, ...this.#table });
  }

  #add(i: number, text: string, kind: Block["kind"]): void {
    if (this.#block && (this.#block.kind !== kind || this.#block.lines.length >= this.most)) this.#close();
    const rank = TERM + measureIndent(text) / 4;
    if (this.#block === undefined) {
      if (this.format === "text" && kind === "prose") this.#headings.end(rank);
      this.#block = { line: i + 1, lines: [], heading: this.#headings.use(), kind };
      this.#isTerm = this.format === "text" && kind === "prose" && !ITEM.test(text);
    }
    this.#isTerm &&=
      measureIndent(this.lines[i + 1] ?? "") > measureIndent(text) && text.trim().length <= MAX_TERM;
    if (this.#isTerm) {
      this.#headings.begin({ rank, text: text.trim(), line: i + 1 });
      this.#headings.use();
    }
    this.#block.lines.push(text.replace(/\f/g, ""));
  }

  #close(): void {
    if (this.#block !== undefined) this.#found.push(this.#block);
    this.#block = undefined;
  }
}

/** Measures the indentation of a line in columns, with 8 for each tab, up to a limit. */
function measureIndent(line: string): number {
  return /^\s{0,80}/.exec(line)?.[0].replaceAll("\t", " ".repeat(8)).length ?? 0;
}

/** Removes badges, link targets, tags and the link to itself from a heading. */
function cleanHeading(text: string): string {
  return text
    .replace(/!\[[^\]]{0,300}\](?:\([^)]{0,1000}\)|\[[^\]]{0,300}\])/g, "")
    .replace(/\[([^[\]]{0,300})\](?:\([^)]{0,1000}\)|\[[^\]]{0,300}\])/g, "$1")
    .replace(/<\/?(?:a|b|br|code|em|i|img|kbd|picture|small|source|span|strong|su[bp])\b[^<>]{0,1000}>/gi, "")
    .replace(/\s{1,10}(?:\{[#.][^{}]{0,200}\}|¶)$|¶$/, "")
    .trim();
}

/** Splits a Markdown row as GitHub does: at every bar that no backslash precedes. */
function splitCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

/** Returns whether a line separates the head of a table from the rows. */
function isTableRule(line: string): boolean {
  const cells = line.trim().length <= 2_000 && line.includes("-") ? splitCells(line) : [];
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));
}
