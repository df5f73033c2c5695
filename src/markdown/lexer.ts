import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

/** Quotes, lists and emphasis nested deeper than this are text. marked recurses, and 3,000 levels overflow the stack. */
const MAX_DEPTH = 40;
/** A wider table is text: a short row is filled up to the width of the head, so width and height multiply. */
const MAX_COLUMNS = 200;
/** marked compares each mark with the rest of its paragraph. In marks × characters; 1e9 take about 0.3 s. */
const MAX_INLINE_WORK = 2e9;
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
  #inlineWork = MAX_INLINE_WORK;

  constructor(length: number) {
    super({ gfm: true, tokenizer: new BoundedTokenizer((characters) => this.spend(characters)) });
    this.#blockWork = maxBlockWork(length);
  }

  /** Throws TooComplex after more characters of blocks were read than the document allows. */
  spend(characters: number): void {
    this.#blockWork -= characters;
    if (this.#blockWork < 0) throw new TooComplex();
  }

  override blockTokens(src: string, tokens: Token[] = [], clipped = false): TokensList {
    this.spend(src.length);
    if (this.#depth >= MAX_DEPTH) tokens.push(asText(src));
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

class BoundedTokenizer extends Tokenizer {
  readonly #spend: (characters: number) => void;
  #cells = MAX_CELLS;

  constructor(spend: (characters: number) => void) {
    super();
    this.#spend = spend;
  }

  /** marked reads all that is left of a quote again after each line without a mark that a line with one follows. */
  override blockquote(src: string): Tokens.Blockquote | undefined {
    const [quote = ""] = this.rules.block.blockquote.exec(src) ?? [];
    const resumed = quote.match(/\n {0,3}(?![ >])[^\n]*(?=\n {0,3}>)/g)?.length ?? 0;
    this.#spend(resumed * quote.length);
    return super.blockquote(src);
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

function asText(text: string): Tokens.Text {
  return { type: "text", raw: text, text };
}
