import { type Block, captionAfter, Headings, MAX_LINE, MAX_LINES } from "./block.js";
import { cellsOf, isTableRule } from "./markdown-table.js";

/** Which marks stand for something. Plain text may be AsciiDoc or reStructuredText: their marks are rare otherwise. */
export type Dialect = "markdown" | "text";

const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)]|\.{1,3})\s+\S/;
const LINK_DEFINITION = /^ {0,3}\[[^\]\n]{1,200}\]:\s*\S/;
/** Rules, delimiters of AsciiDoc, and its attributes, macros and comments: no text for a reader. */
const NO_TEXT =
  /^\s*(?:([-*_=~+^.])(?:\s?\1)*|:[\w-]+:.*|\[[\w\s,="'%#.-]*\]|(?:include|ifdef|ifndef|ifeval|endif|image)::.*|\.\. [\w-]+::.*|\/\/(?:\s.*)?)\s*$/;
const TERM = /^(\s*)(\S.{0,160}?)(?:::+|;;)\s*$/;
const UNDERLINE = /^([=\-~^"'`#*+])\1{2,}\s*$/;
const NUMBERED =
  /^\s*(?:\d+(?:\.\d+)*\.?|[A-Z]\.|(?:Section|Article|Chapter|Appendix)\s+\w+[.:]?)\s+\p{Lu}.{1,80}$/u;
const CAPITALS = /^[^\p{Ll}]*\p{Lu}{3}[^\p{Ll}]*$/u;
const RANKS = "=-~^";

/** The blocks of a document that is written for people, cut where a blank line, a mark or a heading stands. */
export function textBlocks(text: string, dialect: Dialect): Block[] {
  return new TextReader(text.split(/\r\n|\n|\r/), dialect).read();
}

class TextReader {
  readonly #found: Block[] = [];
  readonly #headings = new Headings();
  #block: Block | undefined;
  /** The line that ends the block of code. */
  #fence: string | undefined;
  #inComment = false;
  #table: (Pick<Block, "header" | "caption"> & { table: number }) | undefined;
  /** The list of definitions goes on: a term has just been read, or a line with only "+". */
  #joined = false;
  #hasTerm = false;
  constructor(
    private readonly lines: readonly string[],
    private readonly dialect: Dialect,
  ) {}

  read(): Block[] {
    for (let i = 0; i < this.lines.length; i++) {
      if (this.#fence !== undefined) this.#code(i);
      else i += this.#line(i);
    }
    this.#close();
    return this.#found;
  }

  /** Reads line `i`; returns how many further lines it took. */
  #line(i: number): number {
    const raw = this.lines[i] ?? "";
    const text = this.#withoutComments(raw);
    if (text.trim() === "" || text.length > MAX_LINE) {
      this.#close();
      this.#table = undefined;
      return 0;
    }
    const underlined = this.#underlined(i, text);
    if (underlined > 0) {
      this.#heading(underlined, text);
      return 1;
    }
    if (this.#opensFence(text) || this.#isHeading(i, text)) return 0;
    if (LINK_DEFINITION.test(text) || NO_TEXT.test(text)) {
      this.#close();
      if (text.trim() === "+") this.#joined = true;
      return 0;
    }
    if (/^\s*\|/.test(text)) this.#row(i, text);
    else this.#prose(i, text);
    return 0;
  }

  #withoutComments(raw: string): string {
    let rest = raw;
    let kept = "";
    while (rest !== "") {
      if (this.#inComment) {
        const end = rest.indexOf("-->");
        if (end < 0) return kept;
        this.#inComment = false;
        rest = rest.slice(end + 3);
      } else {
        const start = rest.indexOf("<!--");
        if (start < 0) return kept + rest;
        kept += rest.slice(0, start);
        this.#inComment = true;
        rest = rest.slice(start + 4);
      }
    }
    return kept;
  }

  /** The rank of a heading whose next line is only its underline; 0 if the line is not a heading. */
  #underlined(i: number, text: string): number {
    const under = this.lines[i + 1] ?? "";
    const mark = UNDERLINE.exec(under)?.[1];
    if (mark === undefined || this.#block !== undefined || ITEM.test(text) || /^\s*[|>]/.test(text)) return 0;
    const closeBy = Math.abs(under.trim().length - text.trim().length) <= 3;
    if (!closeBy && (this.dialect === "text" || !"=-".includes(mark))) return 0;
    return RANKS.indexOf(mark) + 1 || 5;
  }

  #heading(rank: number, text: string): void {
    this.#close();
    this.#headings.begin(rank, text.trim());
    this.#hasTerm = false;
  }

  #opensFence(text: string): boolean {
    const mark =
      /^\s*(`{3,}|~{3,})[^`]*$/.exec(text)?.[1] ??
      (this.dialect === "text" ? /^(-{4,}|\.{4,})$/.exec(text.trimEnd())?.[1] : undefined);
    if (mark === undefined) return false;
    this.#close();
    this.#fence = mark;
    return true;
  }

  #code(i: number): void {
    const text = this.lines[i] ?? "";
    if (text.trim().startsWith(this.#fence ?? "") && /^\s*[`~.-]+\s*$/.test(text)) {
      this.#close();
      this.#fence = undefined;
      this.#joined = true;
    } else if (text.trim() === "" || text.length > MAX_LINE) this.#close();
    else this.#add(i, text, "code");
  }

  #isHeading(i: number, text: string): boolean {
    const rank = /^(#{1,6}|={1,6})\s+\S/.exec(text)?.[1]?.length;
    if (rank !== undefined && (this.dialect === "text" || text.startsWith("#"))) {
      this.#heading(rank, text.slice(rank).trim().replace(/ #+$/, ""));
      return true;
    }
    if (this.dialect === "markdown" || this.#block !== undefined) return false;
    const term = TERM.exec(text);
    if (term) {
      const follows = this.#joined && this.#found.at(-1)?.heading !== this.#headings.toString();
      this.#headings.term(follows ? 1 : (term[1] ?? "").length > 0 ? 1 : 0, term[2] ?? "");
      this.#joined = true;
      this.#hasTerm = true;
      return true;
    }
    const alone = (this.lines[i + 1] ?? "").trim() === "" && (this.lines[i - 1] ?? "").trim() === "";
    if (!alone || text.trim().length > 80) return false;
    if (CAPITALS.test(text.trim())) this.#heading(1, text);
    else if (NUMBERED.test(text.trim()) && !/[;,]$/.test(text.trim())) this.#heading(2, text);
    else return false;
    return true;
  }

  #row(i: number, text: string): void {
    const cells = cellsOf(text);
    const isHead = isTableRule(this.lines[i + 1] ?? "");
    this.#close();
    const heading = this.#headings.toString();
    const caption = captionAfter(this.#found, heading);
    this.#table ??= {
      table: i + 1,
      ...(isHead && { header: cells }),
      ...(caption !== undefined && { caption }),
    };
    if (isTableRule(text) || this.#table.header === cells) return;
    this.#found.push({ line: i + 1, lines: [text], heading, kind: "table", cells, ...this.#table });
  }

  #prose(i: number, text: string): void {
    this.#table = undefined;
    if (this.#block === undefined && this.#hasTerm && !this.#joined && /^\S/.test(text) && !ITEM.test(text)) {
      this.#headings.endTerms();
      this.#hasTerm = false;
    }
    if (ITEM.test(text)) this.#close();
    this.#joined = false;
    this.#add(i, text, "prose");
  }

  #add(i: number, text: string, kind: Block["kind"]): void {
    if (this.#block && (this.#block.kind !== kind || this.#block.lines.length >= MAX_LINES)) this.#close();
    this.#block ??= { line: i + 1, lines: [], heading: this.#headings.toString(), kind };
    this.#block.lines.push(text.replace(/\f/g, ""));
  }

  #close(): void {
    if (this.#block !== undefined) this.#found.push(this.#block);
    this.#block = undefined;
  }
}
