import { decodeHTML } from "entities/decode";
import { type Block, captionAfter, Headings, MAX_LINES } from "./block.js";
import { type HtmlTag, type HtmlToken, htmlTokens } from "./html-tokens.js";

/** Elements whose text does not belong to the text around them. */
const BLOCKS = new Set(
  (
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
  ).split(" "),
);
/** Elements and classes of navigation, which is not part of a document's text. */
const AROUND = new Set(["head", "nav", "button"]);
const AROUND_CLASS =
  /\bclass\s*=\s*["'][^"']{0,200}?\b(?:toc|nav|navbar|navheader|navfooter|navigation|breadcrumbs?|sidebar|pagination|menu)\b/i;
const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
/** A first line of a cell or a list's item that names what the rest is about ends like no sentence. */
const MAX_LABEL = 160;
/** Of a cell that goes over several columns. */
const COLSPAN = /\bcolspan\s*=\s*["']?(\d{1,2})/i;

/** The blocks of a page: what it shows, without its tags, each line at the line of the file where it stands. */
export function htmlBlocks(page: string): Block[] {
  const reader = new HtmlReader();
  for (const token of htmlTokens(page)) reader.take(token);
  return reader.end();
}

interface TableInWork {
  id: number;
  caption: string | undefined;
  /** The title over several columns that was read last. */
  section: string;
  /** The titles of the columns. */
  head: RowInWork | undefined;
  /** Whether `head` has a row below it. */
  isHeadUsed: boolean;
  row: RowInWork;
}

interface RowInWork {
  cells: string[];
  lines: { line: number; text: string }[];
  /** Of each cell: whether it is a title. */
  titles: boolean[];
  /** A title over several columns. */
  isWide: boolean;
}

interface CellInWork {
  row: RowInWork;
  isTitle: boolean;
  /** Over how many columns it goes. */
  span: number;
  /** How many lines its row had before it. */
  linesBefore: number;
}

const newRow = (): RowInWork => ({ cells: [], lines: [], titles: [], isWide: false });

class HtmlReader {
  readonly #found: Block[] = [];
  readonly #headings = new Headings();
  #lines: { line: number; text: string }[] = [];
  /** Inside what leads through the document: how deep, and by which element. */
  #hidden: { name: string; depth: number } | undefined;
  #heading: number | undefined;
  #isTerm = false;
  #lists = 0;
  #pre = 0;
  #tables: TableInWork[] = [];
  #nextTable = 1;
  #cell: CellInWork | undefined;
  #paragraphs = 0;

  take(token: HtmlToken): void {
    if (token.kind === "text") {
      if (this.#hidden === undefined) this.#text(token.text, token.line);
      return;
    }
    if (this.#hides(token) || !(BLOCKS.has(token.name) || token.name === "title")) return;
    if (token.name === "br" && (this.#pre > 0 || this.#cell)) this.#text(" ", token.line);
    else this.#close();
    if (token.kind === "open") this.#open(token.name, token.attributes);
    else this.#end(token.name);
  }

  end(): Block[] {
    this.#close();
    return this.#found;
  }

  /** Whether `token` is within what is left out, or begins or ends it. */
  #hides({ kind, name, attributes }: HtmlTag): boolean {
    if (this.#hidden === undefined) {
      const begins =
        kind === "open" &&
        !VOID.has(name) &&
        (AROUND.has(name) || AROUND_CLASS.test(attributes.slice(0, 1_000)));
      if (!begins) return false;
      this.#close();
      this.#hidden = { name, depth: 1 };
    } else if (name === this.#hidden.name) {
      this.#hidden.depth += kind === "open" ? 1 : -1;
      if (this.#hidden.depth === 0) this.#hidden = undefined;
    }
    return true;
  }

  #open(name: string, attributes: string): void {
    if (/^h[1-6]$/.test(name)) this.#heading = Number(name[1]);
    else if (name === "dl") this.#lists += 1;
    else if (name === "dt") this.#isTerm = true;
    else if (name === "pre") this.#pre += 1;
    else if (name === "table") {
      const caption = captionAfter(this.#found, this.#headings.toString());
      const id = this.#nextTable++;
      this.#tables.push({ id, caption, section: "", head: undefined, isHeadUsed: false, row: newRow() });
    } else if (name === "tr") this.#row();
    else if (name === "td" || name === "th") {
      this.#endCell();
      const isTitle = name === "th" && !/\bscope\s*=\s*["']?row/i.test(attributes);
      const span = Number(COLSPAN.exec(attributes.slice(0, 1_000))?.[1] ?? 1);
      const row = this.#tables.at(-1)?.row;
      this.#cell = row && { row, isTitle, span, linesBefore: row.lines.length };
      this.#paragraphs = 0;
    }
  }

  #end(name: string): void {
    if (/^h[1-6]$/.test(name)) this.#heading = undefined;
    else if (name === "dl") {
      this.#lists = Math.max(0, this.#lists - 1);
      this.#headings.endTerms(this.#lists);
    } else if (name === "dt") this.#isTerm = false;
    else if (name === "pre") this.#pre = Math.max(0, this.#pre - 1);
    else if (name === "td" || name === "th") this.#endCell();
    else if (name === "tr") this.#row();
    else if (name === "caption") {
      const table = this.#tables.at(-1);
      if (table) table.caption = captionAfter(this.#found, this.#headings.toString());
    } else if (name === "table") {
      this.#row();
      const table = this.#tables.pop();
      if (table) this.#addUnusedHead(table);
    }
  }

  /** Adds text, each of its lines at its line of the file. */
  #text(text: string, line: number): void {
    const inCode = this.#pre > 0;
    text.split("\n").forEach((raw, i) => {
      const part = decoded(inCode ? raw.replace(/\r$/, "") : raw.replace(/\s+/g, " "));
      const last = this.#lines.at(-1);
      if (last?.line === line + i) last.text += part;
      else if (part.trim() !== "") this.#lines.push({ line: line + i, text: part });
    });
  }

  /** The text read so far is a block of its own, a heading, a term or a cell. */
  #close(): void {
    const lines = this.#lines
      .map(({ line, text }) => ({ line, text: this.#pre > 0 ? text.trimEnd() : text.trim() }))
      .filter(({ text }) => text !== "");
    this.#lines = [];
    if (lines.length === 0) return;
    const text = lines.map((each) => each.text.trim()).join(" ");
    if (this.#heading !== undefined) this.#headings.begin(this.#heading, text);
    else if (this.#isTerm) this.#headings.term(Math.max(0, this.#lists - 1), text);
    else if (this.#cell && this.#pre === 0) this.#addToCell(this.#cell, text, lines);
    else for (const part of cut(lines)) this.#add(part, this.#pre > 0 ? "code" : "prose");
  }

  /** A cell with one text is one of its row; one with several paragraphs is read like a list of definitions. */
  #addToCell({ row, linesBefore }: CellInWork, text: string, lines: { line: number; text: string }[]): void {
    this.#paragraphs += 1;
    if (this.#paragraphs === 1) {
      row.cells.push(text);
      row.lines.push(...lines);
      return;
    }
    const label = this.#paragraphs === 2 ? row.cells.pop() : undefined;
    if (label !== undefined) {
      row.lines.length = linesBefore;
      if (label.length <= MAX_LABEL) this.#headings.term(this.#lists, label);
    }
    for (const part of cut(lines)) this.#add(part, "prose");
  }

  /** An empty cell, and the further columns of a wide one, keep the others under their titles. */
  #endCell(): void {
    if (this.#cell === undefined) return;
    const { row, isTitle, span } = this.#cell;
    if (this.#paragraphs === 0) row.cells.push("");
    if (this.#paragraphs > 0) this.#headings.endTerms(this.#lists);
    if (this.#paragraphs <= 1) for (let i = 1; i < span; i++) row.cells.push("");
    while (row.titles.length < row.cells.length) row.titles.push(isTitle);
    row.isWide ||= isTitle && span > 1;
    this.#cell = undefined;
  }

  /** A row ends: its cells are a block, the titles of the columns, or a title of the table. */
  #row(): void {
    this.#endCell();
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const { row } = table;
    table.row = newRow();
    const [first, ...rest] = row.cells;
    if (!row.cells.some(Boolean)) return;
    // Many tables have a title at the beginning of each row, and some none in the corner.
    const isHead = (row.titles[0] || first === "") && row.titles.slice(1).every(Boolean);
    if (isHead && row.isWide && !rest.some(Boolean)) table.section = first ?? "";
    else if (isHead) {
      this.#addUnusedHead(table);
      Object.assign(table, { head: row, isHeadUsed: false });
    } else {
      table.isHeadUsed = true;
      this.#addRow(table, row);
    }
  }

  /** Titles without a row below them are a row themselves. */
  #addUnusedHead(table: TableInWork): void {
    const { head, isHeadUsed } = table;
    table.head = undefined;
    if (head && !isHeadUsed) this.#addRow(table, head);
  }

  #addRow({ id, caption, section, head }: TableInWork, { cells, lines }: RowInWork): void {
    const title = [caption, section].filter(Boolean).join(" ");
    const titles = { ...(head && { header: head.cells }), ...(title !== "" && { caption: title }) };
    this.#add(lines, "table", { cells, table: id, ...titles });
  }

  #add(part: { line: number; text: string }[], kind: Block["kind"], more: Partial<Block> = {}): void {
    this.#found.push({ ...joined(part), heading: this.#headings.toString(), kind, ...more });
  }
}

/** Pieces of at most MAX_LINES lines, none with a line of the file left out. */
function cut(lines: readonly { line: number; text: string }[]): { line: number; text: string }[][] {
  const parts: { line: number; text: string }[][] = [];
  for (const each of lines) {
    const part = parts.at(-1);
    const first = part?.[0];
    if (part && first && each.line - first.line < MAX_LINES && each.line - (part.at(-1)?.line ?? 0) <= 2)
      part.push(each);
    else parts.push([each]);
  }
  return parts;
}

/** One text for each line of the file between the first and the last one; two texts on one line are joined. */
function joined(lines: readonly { line: number; text: string }[]): { line: number; lines: string[] } {
  const first = lines[0]?.line ?? 1;
  const texts: string[] = [];
  for (const { line, text } of lines) {
    while (texts.length <= line - first) texts.push("");
    const before = texts[line - first];
    texts[line - first] = before ? `${before} | ${text}` : text;
  }
  return { line: first, lines: texts };
}

/** Text as a page shows it: character references resolved, and none of them breaks a line. */
function decoded(text: string): string {
  return text.includes("&") ? decodeHTML(text).replace(/[\0-\x1f\x7f\xa0]/g, " ") : text;
}
