import { decodeHTML } from "entities/decode";
import {
  type Block,
  getCaptionForNextTable,
  HeadingStack,
  isTitle,
  MAX_LINES,
  TERM,
  TITLE,
} from "./block.js";
import { type HtmlEvent, iterateVisible } from "./html-elements.js";

/** Matches the class of a paragraph that is a heading outside the table of contents, or the title of a box. */
const RUBRIC = /\b(?:rubric|admonition-title)\b/;
/** Matches the number of columns that a cell spans. */
const COLSPAN = /\bcolspan\s*=\s*["']?(\d{1,2})/i;

/** Reads the blocks of a page: the visible text without tags, with the line numbers of the file. */
export function readHtmlBlocks(page: string): Block[] {
  const reader = new HtmlReader();
  for (const event of iterateVisible(page)) reader.take(event);
  return reader.end();
}

interface TextLine {
  line: number;
  text: string;
}

interface TableInWork {
  id: number;
  caption: string | undefined;
  /** The last title that spans several columns, which applies to the rows below it. */
  section: string;
  /** The row with the column titles. */
  head: RowInWork | undefined;
  row: RowInWork;
  cell: CellInWork | undefined;
}

interface RowInWork {
  cells: string[];
  lines: TextLine[];
  /** Whether each cell is a title. */
  titles: boolean[];
  /** Whether one of the titles spans several columns. */
  isWide: boolean;
  /** For column titles: whether a row follows them. */
  isUsed: boolean;
}

interface CellInWork {
  isTitle: boolean;
  /** How many columns the cell spans. */
  span: number;
  /** How many lines the row had before this cell, and how many paragraphs the cell has so far. */
  linesBefore: number;
  paragraphs: number;
}

const createRow = (): RowInWork => ({ cells: [], lines: [], titles: [], isWide: false, isUsed: false });

class HtmlReader {
  readonly #found: Block[] = [];
  readonly #headings = new HeadingStack(this.#found);
  #lines: TextLine[] = [];
  #heading: number | undefined;
  #isTerm = false;
  /** The number of open bold elements, and whether the current block has only bold text. */
  #bold = 0;
  #isBold = false;
  /** The number of open blocks, and the open bold titles, each with the depth of the block with which it ends. */
  #level = 0;
  #titles: { level: number; rank: number }[] = [];
  /** The nesting depth of definition lists and tables, each of which has its own terms. */
  #depth = 0;
  #pre = 0;
  readonly #tables: TableInWork[] = [];
  #nextTable = 1;
  /** What to insert before the next text: `^` or `_` if raised or lowered text begins, a blank if such text has ended. */
  #script: string | undefined;
  /** The last character of the text, kept separately because reading it from the growing text would take quadratic time. */
  #last = "";

  take(event: HtmlEvent): void {
    if (event.kind === "text") {
      this.#addText(event.text, event.line);
      return;
    }
    const { kind, name, line } = event;
    if (name === "sup" || name === "sub") this.#script = kind === "close" ? " " : name === "sup" ? "^" : "_";
    else if (name === "b" || name === "strong") this.#bold += kind === "close" ? -1 : 1;
    else if (name === "br" && this.#pre > 0) {
      // Code may be on one line of the file, with an element per visible line.
      const last = this.#lines.at(-1);
      if (last) last.text += "\n";
    } else if (name === "br" && (this.#heading || this.#cell)) this.#addText(" ", line);
    else {
      const isOver = this.#isBold && (kind !== "close" || name === "p");
      this.#close(isOver ? this.#level - (kind === "close" ? 2 : 1) : undefined);
      this.#isBold = kind === "open";
      this.#bold = 0;
      if (kind === "open") this.#open(name, event.attributes);
      if (kind === "close") this.#end(name);
    }
  }

  end(): Block[] {
    this.#close();
    this.#headings.end();
    return this.#found;
  }

  get #cell(): CellInWork | undefined {
    return this.#tables.at(-1)?.cell;
  }

  #open(name: string, attributes: string): void {
    this.#level += 1;
    if (/^h[1-6]$/.test(name)) this.#heading = Number(name[1]);
    else if (name === "dl") this.#depth += 1;
    else if (name === "dt") this.#isTerm = true;
    else if (name === "pre") this.#pre += 1;
    else if (name === "p" && RUBRIC.test(attributes)) this.#bold += 1;
    else if (name === "table") {
      const caption = getCaptionForNextTable(this.#found, `${this.#headings}`);
      const id = this.#nextTable++;
      const parts = { section: "", head: undefined, row: createRow(), cell: undefined };
      this.#tables.push({ id, caption, ...parts });
      this.#depth += 1;
    } else if (name === "td" || name === "th") {
      const table = this.#tables.at(-1);
      if (table === undefined) return;
      const isTitle = name === "th" && !/\bscope\s*=\s*["']?row/i.test(attributes);
      const span = Number(COLSPAN.exec(attributes.slice(0, 1_000))?.[1] ?? 1);
      table.cell = { isTitle, span, linesBefore: table.row.lines.length, paragraphs: 0 };
    }
  }

  #end(name: string): void {
    this.#level -= 1;
    this.#endTitles(this.#level);
    if (/^h[1-6]$/.test(name)) this.#heading = undefined;
    else if (name === "dl") this.#leave();
    else if (name === "dt") this.#isTerm = false;
    else if (name === "pre") this.#pre -= 1;
    else if (name === "td" || name === "th") this.#endCell();
    else if (name === "tr") this.#endRow();
    else if (name === "caption") {
      const table = this.#tables.at(-1);
      if (table) table.caption = getCaptionForNextTable(this.#found, `${this.#headings}`);
    } else if (name === "table") {
      this.#endRow();
      const table = this.#tables.pop();
      if (table) this.#addUnusedHead(table);
      this.#leave();
    }
  }

  /** Ends a definition list or table, with its terms. */
  #leave(): void {
    this.#depth -= 1;
    this.#headings.end(TERM + this.#depth);
  }

  /** Ends the bold titles that belong to blocks of this depth or deeper. */
  #endTitles(level: number): void {
    for (let last = this.#titles.at(-1); last && last.level >= level; last = this.#titles.at(-1)) {
      this.#headings.end(last.rank);
      this.#titles.pop();
    }
  }

  /** Adds text, and the line number in the file to each of its lines. */
  #addText(text: string, line: number): void {
    if (this.#bold === 0 && text.trim() !== "") this.#isBold = false;
    const inCode = this.#pre > 0;
    text.split("\n").forEach((raw, i) => {
      const part = decodeEntities(inCode ? raw.replace(/\r$/, "") : raw.replace(/\s+/g, " "));
      const last = this.#lines.at(-1);
      if (last?.line === line + i) last.text += this.#mark(part) + part;
      // In code, the indentation of a line may be in its own element, so keep blanks.
      else if (inCode || part.trim() !== "") this.#lines.push({ line: line + i, text: part });
    });
    this.#script = undefined;
    this.#last = text.at(-1) ?? "";
  }

  /** Returns the mark that separates raised or lowered digits from a number beside them; empty if none is needed. */
  #mark(text: string): string {
    const mark = this.#script;
    if (mark === undefined || !/^[\d+\u2212-]/.test(text)) return "";
    return (mark === "^" ? /[\p{L}\d)]/u : /\d/).test(this.#last) ? mark : "";
  }

  /**
   * Ends the current text, which becomes a block, heading, term or cell. With `level`, the text is bold, and a title for the
   * rest of the block that is open at this depth.
   */
  #close(level?: number): void {
    this.#script = undefined;
    const lines = this.#lines
      .map(({ line, text }) => ({ line, text: this.#pre > 0 ? text.trimEnd() : text.trim() }))
      .filter(({ text }) => text !== "");
    this.#lines = [];
    const [first] = lines;
    if (first === undefined) return;
    const text = lines.map((each) => each.text.trim()).join(" ");
    const table = this.#tables.at(-1);
    if (this.#heading !== undefined) {
      this.#headings.begin({ rank: this.#heading, text: cleanHeading(text), line: first.line });
      // Do not wait for the end tag: if it is missing, the rest is text.
      this.#heading = undefined;
    } else if (this.#isTerm) {
      this.#headings.join({ rank: TERM - 1 + Math.max(1, this.#depth), text, line: first.line });
    } else if (table?.cell && this.#pre === 0) this.#addToCell(table.row, table.cell, text, lines);
    else if (level !== undefined && this.#pre === 0 && isTitle(text)) {
      const rank = TITLE + this.#depth;
      this.#endTitles(level);
      this.#headings.begin({ rank, text, line: first.line });
      this.#titles.push({ level, rank });
    } else for (const part of splitAtGaps(lines)) this.#add(part, this.#pre > 0 ? "code" : "prose");
  }

  /** Adds a text to a cell. A single text stays in the row; if the cell has several, each becomes a block. */
  #addToCell(row: RowInWork, cell: CellInWork, text: string, lines: TextLine[]): void {
    cell.paragraphs += 1;
    if (cell.paragraphs === 1) {
      row.cells.push(text);
      row.lines.push(...lines);
      return;
    }
    if (cell.paragraphs === 2) {
      row.cells.pop();
      for (const part of splitAtGaps(row.lines.splice(cell.linesBefore))) this.#add(part, "prose");
    }
    for (const part of splitAtGaps(lines)) this.#add(part, "prose");
  }

  /** Ends a cell. Adds empty cells for an empty cell and for further spanned columns, to keep other cells under their titles. */
  #endCell(): void {
    const table = this.#tables.at(-1);
    if (table?.cell === undefined) return;
    const { row } = table;
    const { isTitle, span, paragraphs } = table.cell;
    if (paragraphs === 0) row.cells.push("");
    if (paragraphs <= 1) for (let i = 1; i < span; i++) row.cells.push("");
    while (row.titles.length < row.cells.length) row.titles.push(isTitle);
    row.isWide ||= isTitle && span > 1;
    table.cell = undefined;
  }

  /** Ends a row: the cells become a block, the column titles, or a title of the table. */
  #endRow(): void {
    this.#endCell();
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const { row } = table;
    table.row = createRow();
    const [first, ...rest] = row.cells;
    if (!row.cells.some(Boolean)) return;
    // A row of titles may have an empty corner. Other rows may have a title in the first cell only.
    const isHead = (row.titles[0] || first === "") && row.titles.slice(1).every(Boolean);
    if (isHead && row.isWide && !rest.some(Boolean)) table.section = first ?? "";
    else if (isHead) {
      // A title above several column titles, such as a unit, applies to the whole table.
      if (table.head?.isWide && !table.head.isUsed)
        table.section = table.head.cells.filter(Boolean).join(" ");
      this.#addUnusedHead(table);
      table.head = row;
    } else this.#addRow(table, row);
  }

  /** Adds column titles as a row if no row is below them. */
  #addUnusedHead(table: TableInWork): void {
    const { head } = table;
    table.head = undefined;
    if (head && !head.isUsed) this.#addRow(table, head);
  }

  #addRow({ id, caption, section, head }: TableInWork, { cells, lines }: RowInWork): void {
    if (head) head.isUsed = true;
    const title = [caption, section].filter(Boolean).join(" ");
    const titles = { ...(head && { header: head.cells }), ...(title !== "" && { caption: title }) };
    this.#add(lines, "table", { cells, table: id, ...titles });
  }

  #add(part: TextLine[], kind: Block["kind"], more: Partial<Block> = {}): void {
    this.#found.push({ ...joinLinesByNumber(part), heading: this.#headings.use(), kind, ...more });
  }
}

/** Splits lines into parts that span at most MAX_LINES lines of the file, and wherever more than one line is missing. */
function splitAtGaps(lines: readonly TextLine[]): TextLine[][] {
  const parts: TextLine[][] = [];
  for (const each of lines) {
    const part = parts.at(-1);
    const first = part?.[0];
    if (part && first && each.line - first.line < MAX_LINES && each.line - (part.at(-1)?.line ?? 0) <= 2)
      part.push(each);
    else parts.push([each]);
  }
  return parts;
}

/** Returns one text per line of the file, from the first to the last. Joins texts on the same line. */
function joinLinesByNumber(lines: readonly TextLine[]): { line: number; lines: string[] } {
  const first = lines[0]?.line ?? 1;
  const texts: string[] = [];
  for (const { line, text } of lines) {
    while (texts.length <= line - first) texts.push("");
    const before = texts[line - first];
    texts[line - first] = before ? `${before} | ${text}` : text;
  }
  return { line: first, lines: texts };
}

/** Removes the mark of a self-link from a heading. */
function cleanHeading(text: string): string {
  return text
    .replace(/^[\u200b\s]+|^§(?=\p{L})/gu, "")
    .replace(/[\u200b\s]*[¶🔗\u200b]$|\s#$/u, "")
    .trim();
}

/** Decodes character references. Line breaks and other control characters among them become blanks. */
function decodeEntities(text: string): string {
  return text.includes("&") ? decodeHTML(text).replace(/[\0-\x1f\x7f\xa0]/g, " ") : text;
}
