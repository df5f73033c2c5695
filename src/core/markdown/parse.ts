import { decodeHTMLStrict } from "entities/decode";
import {
  Lexer,
  type MarkedToken,
  type Token,
  Tokenizer,
  type Tokens,
  type TokensList,
  walkTokens,
} from "marked";
import { jsonIn } from "../json/exact-json.js";
import type { Inline, MarkdownBlock } from "./document.js";

/** Reads Markdown; text without markup, and JSON, is one `plain` block. Undefined for what takes too long to read. */
export function parse(markdown: string): MarkdownBlock[] | undefined {
  const tokens = readTokens(markdown);
  return tokens === "plain" ? [{ kind: "plain", text: markdown }] : tokens && blocks(tokens);
}

/** marked's tokens of Markdown; "plain" for text without markup, and JSON. Undefined for what takes too long to read. */
export function readTokens(markdown: string): MarkedToken[] | "plain" | undefined {
  if (/^\s*[[{]/.test(markdown) && jsonIn(markdown) !== undefined) return "plain";
  try {
    const tokens = lex(markdown);
    walkTokens(tokens, (token) => {
      if (token.type === "blockquote") walkTokens(token.tokens ?? [], keepMarks);
    });
    return blocks(tokens).every(isProse) ? "plain" : tokens;
  } catch (error) {
    // RangeError: the stack of a thread may be smaller than the depths here were measured with.
    if (error instanceof TooComplex || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Inline code keeps its marks where a quotation is compared with its source. */
function keepMarks(token: Token): void {
  if (token.type === "codespan") token.text = token.raw;
}

function isProse(block: MarkdownBlock): boolean {
  return (
    block.kind === "plain" || (block.kind === "paragraph" && block.inlines.every((i) => i.kind === "text"))
  );
}

function blocks(tokens: readonly Token[] | undefined): MarkdownBlock[] {
  return ((tokens ?? []) as MarkedToken[]).flatMap(block);
}

function block(token: MarkedToken): MarkdownBlock | MarkdownBlock[] {
  switch (token.type) {
    case "heading":
      return { kind: "heading", level: token.depth, inlines: inlines(token.tokens) };
    case "paragraph":
      return { kind: "paragraph", inlines: inlines(token.tokens) };
    case "text":
      if (token.tokens === undefined) return { kind: "plain", text: token.text };
      return { kind: "paragraph", inlines: inlines(token.tokens) };
    case "code":
      return { kind: "code", text: token.text };
    case "blockquote":
      return { kind: "quote", blocks: blocks(token.tokens) };
    case "list": {
      const items = token.items.map(({ checked, tokens }) => ({ checked, blocks: blocks(tokens) }));
      return { kind: "list", start: token.start === "" ? undefined : token.start, loose: token.loose, items };
    }
    case "table": {
      const cells = (row: readonly { tokens: Token[] }[]) => row.map(({ tokens }) => inlines(tokens));
      return { kind: "table", align: token.align, head: cells(token.header), rows: token.rows.map(cells) };
    }
    case "hr":
      return { kind: "rule" };
    case "html":
      return { kind: "plain", text: token.text.replace(/\n+$/, "") };
    // A definition shows where it is used, but for a footnote's.
    case "def": {
      const [mark, note] = noteOf(token) ?? [];
      if (mark === undefined) return [];
      const inline: Inline = { kind: "strong", inlines: [{ kind: "text", text: mark }] };
      return { kind: "paragraph", inlines: [inline, { kind: "text", text: " " }, ...inlines(note)] };
    }
    // A list item says itself whether it is checked.
    case "space":
    case "checkbox":
      return [];
    default:
      return { kind: "paragraph", inlines: inlines([token]) };
  }
}

export function inlines(tokens: readonly Token[] | undefined): Inline[] {
  const all: Inline[] = [];
  for (const token of (tokens ?? []) as MarkedToken[]) {
    const next = inline(token);
    const last = all.at(-1);
    if (next?.kind === "text" && last?.kind === "text") last.text += next.text;
    else if (next) all.push(next);
  }
  return all;
}

function inline(token: MarkedToken): Inline | undefined {
  switch (token.type) {
    case "strong":
      return { kind: "strong", inlines: inlines(token.tokens) };
    case "em":
      return { kind: "emphasis", inlines: inlines(token.tokens) };
    case "del":
      return { kind: "deleted", inlines: inlines(token.tokens) };
    case "codespan":
      return { kind: "code", text: token.text };
    case "br":
      return { kind: "break" };
    case "link": {
      const { autolink, href, text } = token;
      if (autolink) return { kind: "link", address: href, inlines: [{ kind: "text", text }] };
      return { kind: "link", address: decodeHTMLStrict(href), inlines: inlines(token.tokens) };
    }
    case "image": {
      const address = decodeHTMLStrict(token.href);
      return {
        kind: "link",
        address,
        inlines: [{ kind: "text", text: decodeHTMLStrict(token.text) || address }],
      };
    }
    case "escape":
    case "html":
      return { kind: "text", text: token.text };
    case "text":
      return { kind: "text", text: decodeHTMLStrict(token.text) };
    case "checkbox":
      return undefined;
    default:
      return { kind: "text", text: token.raw };
  }
}

/** Quotes, lists and emphasis nested deeper than this are text. marked recurses, and 3,000 levels overflow the stack. */
const MAX_DEPTH = 40;
/** A wider table is text: a short row is filled up to the width of the head, so width and height multiply. */
const MAX_COLUMNS = 200;
/** marked compares each mark with the rest of its paragraph. In marks × characters, up to 20 ns each; reports need 40 for each character. */
const maxInlineWork = (length: number) => 50 * length + 5e7;
/** In all tables together. */
const MAX_CELLS = 200_000;
/** marked reads the contents of a nested block again at each level. In characters; a report needs 2 or 3 times its own. */
const maxBlockWork = (length: number) => 4 * length + 2_000_000;

/** The Markdown would take too long to read. */
export class TooComplex extends Error {}

/** marked's tokens of `markdown`, in time and memory proportional to its length. Throws TooComplex. */
export function lex(markdown: string): MarkedToken[] {
  return new BoundedLexer(markdown.length).lex(markdown) as MarkedToken[];
}

class BoundedLexer extends Lexer {
  #depth = 0;
  #inlineDepth = 0;
  #blockWork: number;
  #inlineWork: number;

  constructor(length: number) {
    super({ gfm: true, tokenizer: new BoundedTokenizer((characters) => this.spend(characters)) });
    this.#blockWork = maxBlockWork(length);
    this.#inlineWork = maxInlineWork(length);
  }

  /** Throws TooComplex after more characters of blocks were read than the document allows. */
  spend(characters: number): void {
    this.#blockWork -= characters;
    if (this.#blockWork < 0) throw new TooComplex();
  }

  override blockTokens(src: string, tokens: Token[] = [], clipped = false): TokensList {
    this.spend(src.length);
    if (this.#depth >= MAX_DEPTH) tokens.push({ ...asText(src), type: "html", pre: false, block: true });
    this.#depth++;
    try {
      const read = super.blockTokens(this.#depth > MAX_DEPTH ? "" : src, tokens, clipped);
      return read as TokensList;
    } finally {
      this.#depth--;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(/[*_~]+|[[<`]/g)?.length ?? 0;
    const work = marks * src.length;
    if (this.#inlineDepth >= MAX_DEPTH || work > this.#inlineWork) {
      tokens.push(asText(src));
      return tokens;
    }
    this.#inlineWork -= work;
    this.#inlineDepth++;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.#inlineDepth--;
    }
  }
}

/** A definition of a footnote, `[^1]: …`: its mark, and what it says; undefined for a definition of a link. */
export function noteOf(token: Tokens.Def & { note?: Token[] }): [mark: string, note: Token[]] | undefined {
  return token.note && [markOf(token.tag.slice(1)), token.note];
}

/** The mark of a footnote: a number is raised. */
function markOf(label: string): string {
  return /^\d+$/.test(label)
    ? label.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "")
    : `[${label}]`;
}

const NOTE = /^ {0,3}\[\^([^\]\s]+)\]:[ \t]*([^\n]+(?:\n(?! {0,3}\[\^|[ \t]*\n)[^\n]+)*)(?:\n|$)/;

class BoundedTokenizer extends Tokenizer {
  #cells = MAX_CELLS;

  constructor(private readonly spend: (characters: number) => void) {
    super();
  }

  override def(src: string): Tokens.Def | undefined {
    const [raw, label = "", text = ""] = NOTE.exec(src) ?? [];
    if (raw === undefined) return super.def(src);
    const def: Tokens.Def = { type: "def", raw, tag: `^${label.toLowerCase()}`, href: "", title: "" };
    return Object.assign(def, { note: this.lexer.inline(text) });
  }

  override reflink(src: string, links: Parameters<Tokenizer["reflink"]>[1]) {
    const [raw = "", tag = ""] = /^\[(\^[^\]\s]+)\]/.exec(src) ?? [];
    if (!Object.hasOwn(links, tag.toLowerCase())) return super.reflink(src, links);
    return asText(raw, markOf(tag.slice(1)));
  }

  /** marked reads all that is left of a quote again after each line without a mark that a line with one follows. */
  override blockquote(src: string): Tokens.Blockquote | undefined {
    const [quote = ""] = this.rules.block.blockquote.exec(src) ?? [];
    const resumed = quote.match(/\n {0,3}(?![ >])[^\n]*(?=\n {0,3}>)/g)?.length ?? 0;
    this.spend(resumed * quote.length);
    return super.blockquote(src);
  }

  /** At each line of a list item, marked looks for the underline of a heading in all that is left of the paragraph. */
  override text(src: string): Tokens.Text | undefined {
    const end = src.search(/\n[ \t]*\n/);
    // 12 ns for each character; what is read as part of a block takes 100 ns and more.
    this.spend((end < 0 ? src.length : end) / 8);
    return super.text(src);
  }

  override table(src: string): Tokens.Table | undefined {
    const [, head = "", , body = ""] = this.rules.block.table.exec(src) ?? [];
    const columns = head.split("|").length;
    const cells = columns * (body.split("\n").length + 1);
    if (columns > MAX_COLUMNS || cells > this.#cells) return undefined;
    this.#cells -= cells;
    return super.table(src);
  }
}

function asText(raw: string, text = raw): Tokens.Text {
  return { type: "text", raw, text };
}
