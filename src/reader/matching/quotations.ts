import { matchesIn, type Token, tokensOf, withoutMarkup } from "./tokens.js";

/** What stands between quotation marks, in every kind of them; no apostrophe inside a word, no inches, not `'90s`. */
const DOUBLE = `(?<![\\p{L}\\p{N}])"([^"]+)"(?![\\p{L}\\p{N}])|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^«»]+)«|‹([^‹›]+)›|›([^‹›]+)‹|「([^「」]+)」|『([^『』]+)』`;
const SPEECH = new RegExp(
  [
    DOUBLE,
    `(?<![\\p{L}\\p{N}])[‘‚](?!\\d)((?:[^‘’‚]|’(?=\\p{L}))+)[’‘](?!\\p{L})|(?<![\\p{L}\\p{N}])'(?!\\d)((?:[^']|'(?=\\p{L}))+)'(?!\\p{L})`,
  ].join("|"),
  "gu",
);
const LONG_SPEECH = new RegExp(DOUBLE.replaceAll("+)", "{1,1000})"), "gu");
/** What is left out of a quotation, or put into it by the one who quotes. */
export const GAP = /\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…/g;
/** What points from a text to its notes: `[3]`, or a raised number behind a word. */
const NOTE_MARK = /\^?\[(?:\d{1,3}|[a-z])\]|(?<=[\p{L}.,;:!?)\]"”’])\^\d{1,3}(?!\d)/gu;
/** A word that is split at the end of a line. */
const SPLIT_WORD = /(?<=\p{L})[-\u00ad‐]\s*\n\s*(?=\p{Ll})/gu;

/** What stands between quotation marks in a text, without them. */
export function quotationsIn(text: string): Token[] {
  return matchesIn(SPEECH, text).map((match) => {
    const said = match.slice(1).find((part) => part !== undefined) ?? "";
    const start = match.index + match[0].indexOf(said);
    return { text: said, start, end: start + said.length };
  });
}

/** Where quotations of at most 1,000 characters in double marks stand, with their marks. */
export function quotationPlaces(text: string): { start: number; end: number }[] {
  return matchesIn(LONG_SPEECH, text).map(({ 0: all, index }) => ({ start: index, end: index + all.length }));
}

/** A text in which quotations are looked for, each in time that grows with the quotation and not with the text. */
export class QuotableText {
  readonly #texts: { tokens: Token[]; starts: Map<string, number[]> }[];

  /** A word split at the end of a line is read split and joined. */
  constructor(text: string) {
    const plain = withoutMarkup(text).replace(NOTE_MARK, (mark) => " ".repeat(mark.length));
    // Of the same length, so that offsets stay those of the text.
    const joined = plain.replace(SPLIT_WORD, (gap) => "\u00ad".repeat(gap.length));
    this.#texts = (joined === plain ? [plain] : [plain, joined]).map((each) => {
      const tokens = tokensOf(each);
      const starts = new Map<string, number[]>();
      // A quotation may begin behind an article: `d'une`.
      for (const [at, { text: token }] of tokens.entries())
        for (const start of new Set([token, token.replace(/^\p{L}+'/u, "")])) {
          const known = starts.get(start);
          if (known) known.push(at);
          else starts.set(start, [at]);
        }
      return { tokens, starts };
    });
  }

  /**
   * The offset of the place where all of `quotation` stands, what it leaves out by "…" or "[…]" aside; undefined if there
   * is none.
   */
  placeOf(quotation: string): number | undefined {
    const parts = quotation
      .replace(/\[(\p{L})\](?=\p{L})/gu, "$1")
      .split(GAP)
      .map(tokensOf)
      .filter((part) => part.length > 0);
    for (const { tokens, starts } of this.#texts) {
      let from = 0;
      let begin: number | undefined;
      const stands = parts.every((part) => {
        const [first, ...rest] = part;
        const at = starts
          .get(first?.text ?? "")
          ?.find(
            (start) => start >= from && rest.every((token, i) => tokens[start + 1 + i]?.text === token.text),
          );
        if (at === undefined) return false;
        begin ??= tokens[at]?.start;
        from = at + part.length;
        return true;
      });
      if (stands && begin !== undefined) return begin;
    }
    return undefined;
  }
}
