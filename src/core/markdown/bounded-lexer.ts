import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

/** The deepest nesting of quotes, lists and emphasis; deeper marks are text. marked recurses, and 3,000 levels overflow the stack. */
export const MAX_DEPTH = 40;
/** The most columns of a table; a wider one is text. marked pads short rows to the width of the head, so the cells multiply. */
const MAX_COLUMNS = 200;
/** The limit of inline work, in marks × characters (20 ns each): marked compares each mark with the rest of its paragraph. Reports need 40 per character. */
const limitInlineWork = (length: number) => 50 * length + 5e7;
/** Splits a paragraph over the limit into pieces of 80 words or links, which are parsed separately. A piece over the limit is text. */
const PIECE = /(?:\[[^[\]]{0,300}\]\([^()\s]{0,2000}\)|[^\s[]+|[\s\S]){1,80}/g;
/** The most cells of all tables together. */
const MAX_CELLS = 200_000;
/** The limit of block work, in characters, since marked parses a nested block again at each level. Reports need 2 or 3 times their length. */
const limitBlockWork = (length: number) => 4 * length + 2_000_000;

/** Thrown by `lex` and `lexInlines` if the Markdown would take too long to parse. */
export class TooComplexError extends Error {}

/** A reference to a footnote, `[^label]`. */
export interface NoteToken extends Tokens.Generic {
  type: "note";
  label: string;
  /** Whether the document defines it. */
  isDefined: boolean;
}
export type NoteDefinition = Tokens.Def & { note?: { label: string; text: string; tokens: Token[] } };
/** An HTML block, with the tokens of its text. */
export type HtmlBlock = Tokens.HTML & { tokens?: Token[] };

/** Returns marked's tokens of `markdown`. Takes linear time and memory. Throws TooComplexError. */
export function lexMarkdown(markdown: string): MarkedToken[] {
  return new BoundedLexer(markdown.length).lex(markdown) as MarkedToken[];
}

/** Returns marked's tokens of a text, without splitting it into blocks. Throws TooComplexError. */
export function lexInlines(markdown: string): MarkedToken[] {
  return new BoundedLexer(markdown.length).inlineTokens(markdown) as MarkedToken[];
}

class BoundedLexer extends Lexer {
  #depth = 0;
  #inlineDepth = 0;
  #blockWork: number;
  #inlineWork: number;

  constructor(length: number) {
    super({ gfm: true, tokenizer: new BoundedTokenizer((characters) => this.spend(characters)) });
    this.#blockWork = limitBlockWork(length);
    this.#inlineWork = limitInlineWork(length);
  }

  /** Counts characters of blocks that are parsed. Throws TooComplexError if they exceed the limit of the document. */
  spend(characters: number): void {
    this.#blockWork -= characters;
    if (this.#blockWork < 0) throw new TooComplexError();
  }

  override blockTokens(src: string, tokens: Token[] = [], clipped = false): TokensList {
    this.spend(src.length);
    if (this.#depth >= MAX_DEPTH)
      tokens.push({
        ...buildTextToken(src),
        type: "html",
        pre: false,
        block: true,
        tokens: this.inline(src),
      });
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
    const pieces = work > this.#inlineWork ? (src.match(PIECE) ?? []) : [];
    if (pieces.length > 1 && this.#inlineDepth === 0) {
      for (const piece of pieces) this.inlineTokens(piece, tokens);
      return tokens;
    }
    if (this.#inlineDepth >= MAX_DEPTH || work > this.#inlineWork) {
      tokens.push(buildTextToken(src));
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

const NOTE =
  /^ {0,3}\[\^([^\]\s]+)\]:[ \t]*(?:\n[ \t]+)?([^\n]+(?:\n(?! {0,3}\[\^|[ \t]*\n)[^\n]+)*)(?:\n|$)/;
/** Matches a link copied from ChatGPT, the fragment of whose address is decoded and may contain blanks and brackets. */
const COPIED =
  /^\[((?:[^[\]]|\\.|\[[^[\]]{0,200}\]){0,1000}?)\]\((https?:\/\/[^\s<>()]{1,2000}[^\n<>]{0,4000})/;
/** Matches characters that end a bare address: quotation marks, and Chinese and Japanese punctuation and brackets. */
const BARE_END = /["“”„«»`|…†\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/;
/** Matches Grok's mark, which contains another tag. */
const GROK = /^<(grok:render)\b[^<>]*>(?:[\s\S](?!<grok:)){0,500}?<\/\1>/;

class BoundedTokenizer extends Tokenizer {
  #cells = MAX_CELLS;

  constructor(private readonly spend: (characters: number) => void) {
    super();
  }

  override def(src: string): NoteDefinition | undefined {
    const [raw, label = "", text = ""] = NOTE.exec(src) ?? [];
    if (raw === undefined) return super.def(src);
    const note = { label, text, tokens: this.lexer.inline(text) };
    return { type: "def", raw, tag: `^${label.toLowerCase()}`, href: "", title: "", note };
  }

  override reflink(src: string, links: Parameters<Tokenizer["reflink"]>[1]) {
    const [raw, label = ""] = /^\[\^([^\]\s]{1,60})\]/.exec(src) ?? [];
    if (raw === undefined) return super.reflink(src, links);
    const isDefined = Object.hasOwn(links, `^${label.toLowerCase()}`);
    return { type: "note", raw, label, isDefined } satisfies NoteToken as unknown as Tokens.Text;
  }

  override link(src: string): Tokens.Link | Tokens.Image | undefined {
    // In "It is full![1](https://…)", the exclamation mark ends a sentence and does not begin a picture.
    if (/^!\[(?:\^[^\]\s]{1,60}\]|\[?\d{1,3}\]?\]\()/.test(src))
      return buildTextToken("!") as unknown as Tokens.Link;
    return super.link(src) ?? this.#readCopiedLink(src);
  }

  #readCopiedLink(src: string): Tokens.Link | undefined {
    // Without this test, each of many brackets would be compared with a thousand characters after it.
    const isPossible = src.startsWith("[") && src.slice(0, 1_100).includes("](http");
    const [, text, rest = ""] = (isPossible && COPIED.exec(src)) || [];
    const [label = ""] = rest.split("](", 1);
    let depth = 0;
    // The link ends at the last bracket or, if the fragment has an unclosed bracket, at one that another bracket follows.
    const end = label.search(/\)(?=\))|\)$/);
    const closing = [...label.matchAll(/[()]/g)].find(({ 0: bracket }) => {
      depth += bracket === "(" ? 1 : -1;
      return depth < 0;
    });
    const length = closing?.index ?? end;
    if (text === undefined || length < 0) return undefined;
    const href = label.slice(0, length);
    const raw = src.slice(0, text.length + 4 + length);
    return { type: "link", raw, href, title: null, text, tokens: this.lexer.inlineTokens(text) };
  }

  /** Reads a bare address. marked accepts only ASCII hosts, and includes text that directly follows an address. */
  override url(src: string): Tokens.Link | undefined {
    const [address] = /^https?:\/\/[^\s<>]+/i.exec(src) ?? [];
    if (address === undefined) return super.url(src);
    const raw = removeTrailingPunctuation(address.split(BARE_END, 1)[0] ?? "");
    if (!/\/\/./.test(raw)) return undefined;
    return {
      type: "link",
      raw,
      href: raw,
      title: null,
      text: raw,
      tokens: [buildTextToken(raw)],
      autolink: true,
    };
  }

  override tag(src: string): Tokens.Tag | undefined {
    const [raw] = (src.startsWith("<grok:") && GROK.exec(src)) || [];
    if (raw === undefined) return super.tag(src);
    return { type: "html", raw, inLink: false, inRawBlock: false, block: false, text: raw };
  }

  override html(src: string): HtmlBlock | undefined {
    const token = super.html(src);
    return token && { ...token, tokens: token.pre ? [] : this.lexer.inline(token.text) };
  }

  /** Counts extra work: after each lazy line of a quote that a marked line follows, marked parses the rest of the quote again. */
  override blockquote(src: string): Tokens.Blockquote | undefined {
    const [quote = ""] = this.rules.block.blockquote.exec(src) ?? [];
    const resumed = quote.match(/\n {0,3}(?![ >])[^\n]*(?=\n {0,3}>)/g)?.length ?? 0;
    this.spend(resumed * quote.length);
    return super.blockquote(src);
  }

  /** Counts extra work: at each line of a list item, marked searches the rest of the paragraph for the underline of a heading. */
  override text(src: string): Tokens.Text | undefined {
    const end = src.search(/\n[ \t]*\n/);
    // The search takes 12 ns per character, parsing as part of a block 100 ns or more.
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

/** Removes punctuation that belongs to the sentence, and a closing bracket that was opened before the address. */
function removeTrailingPunctuation(address: string): string {
  for (let kept = address; ; ) {
    const before = kept;
    kept = kept.replace(/(?:[.,;:!?*_~'\]}]+|&[a-z\d]+;)$/i, "");
    if (kept.endsWith(")") && kept.split(")").length > kept.split("(").length) kept = kept.slice(0, -1);
    if (kept === before) return kept;
  }
}

function buildTextToken(raw: string): Tokens.Text {
  return { type: "text", raw, text: raw };
}
