import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

/** Quotes, lists and emphasis nested deeper than this are text. marked recurses, and 3,000 levels overflow the stack. */
export const MAX_DEPTH = 40;
/** A wider table is text: a short row is filled up to the width of the head, so width and height multiply. */
const MAX_COLUMNS = 200;
/** marked compares each mark with the rest of its paragraph. In marks × characters, up to 20 ns each; reports need 40 for each character. */
const limitInlineWork = (length: number) => 50 * length + 5e7;
/** A paragraph that would take more is read in pieces of so many words and links, and what is still too much is text. */
const PIECE = /(?:\[[^[\]]{0,300}\]\([^()\s]{0,2000}\)|[^\s[]+|[\s\S]){1,80}/g;
/** In all tables together. */
const MAX_CELLS = 200_000;
/** marked reads the contents of a nested block again at each level. In characters; a report needs 2 or 3 times its own. */
const limitBlockWork = (length: number) => 4 * length + 2_000_000;

/** The Markdown would take too long to read. */
export class TooComplex extends Error {}

/** `[^label]` in a text, and a definition of it. */
export interface NoteToken extends Tokens.Generic {
  type: "note";
  label: string;
  /** Whether the document defines it. */
  isDefined: boolean;
}
export type NoteDefinition = Tokens.Def & { note?: { label: string; text: string; tokens: Token[] } };
/** HTML as a block of its own, with the tokens of what stands in it. */
export type HtmlBlock = Tokens.HTML & { tokens?: Token[] };

/** marked's tokens of `markdown`, in time and memory proportional to its length. Throws TooComplex. */
export function lex(markdown: string): MarkedToken[] {
  return new BoundedLexer(markdown.length).lex(markdown) as MarkedToken[];
}

/** The same of a text whose blocks do not count. */
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

  /** Throws TooComplex after more characters of blocks were read than the document allows. */
  spend(characters: number): void {
    this.#blockWork -= characters;
    if (this.#blockWork < 0) throw new TooComplex();
  }

  override blockTokens(src: string, tokens: Token[] = [], clipped = false): TokensList {
    this.spend(src.length);
    if (this.#depth >= MAX_DEPTH)
      tokens.push({ ...buildText(src), type: "html", pre: false, block: true, tokens: this.inline(src) });
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
      tokens.push(buildText(src));
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
/** An address as it is copied from ChatGPT: its fragment is decoded, with blanks and brackets. */
const COPIED =
  /^\[((?:[^[\]]|\\.|\[[^[\]]{0,200}\]){0,1000}?)\]\((https?:\/\/[^\s<>()]{1,2000}[^\n<>]{0,4000})/;
/** What no address has that stands bare in a text: quotation marks, and the punctuation and brackets of Chinese and Japanese. */
const BARE_END = /["“”„«»`|…†\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/;
/** Grok's mark, which has a tag inside. */
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
    return super.link(src) ?? this.#readCopiedLink(src);
  }

  #readCopiedLink(src: string): Tokens.Link | undefined {
    const [, text, rest = ""] = (src.startsWith("[") && COPIED.exec(src)) || [];
    const [label = ""] = rest.split("](", 1);
    let depth = 0;
    // The bracket that ends the address was not opened in it; if one of the fragment's is not closed, another bracket follows.
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

  /** marked knows hosts of ASCII alone, and takes what follows without a blank for a part of the address. */
  override url(src: string): Tokens.Link | undefined {
    const [address] = /^https?:\/\/[^\s<>]+/i.exec(src) ?? [];
    if (address === undefined) return super.url(src);
    const raw = removeTail(address.split(BARE_END, 1)[0] ?? "");
    if (!/\/\/./.test(raw)) return undefined;
    return { type: "link", raw, href: raw, title: null, text: raw, tokens: [buildText(raw)], autolink: true };
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

/** Punctuation at the end of an address belongs to the sentence, and so does a bracket that was opened before it. */
function removeTail(address: string): string {
  for (let kept = address; ; ) {
    const before = kept;
    kept = kept.replace(/(?:[.,;:!?*_~'\]}]+|&[a-z\d]+;)$/i, "");
    if (kept.endsWith(")") && kept.split(")").length > kept.split("(").length) kept = kept.slice(0, -1);
    if (kept === before) return kept;
  }
}

function buildText(raw: string): Tokens.Text {
  return { type: "text", raw, text: raw };
}
