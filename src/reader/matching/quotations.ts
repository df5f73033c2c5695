import { findIndexAtLeast, hashText, InvertedIndex } from "../../core/inverted-index.js";
import { cutMatch, listMatches, type Token } from "../languages/patterns.js";

/** A part of a text, by offsets in UTF-16 units; `end` is exclusive. */
export type TextRange = Omit<Token, "text">;

/** Match text in quotation marks of any kind, but not an apostrophe in a word, inches, or `'90s`. */
const DOUBLE = `(?<![\\p{L}\\p{N}])"([^"]+)"(?![\\p{L}\\p{N}])|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^»«]+)«|‹([^‹›]+)›|›([^‹›]+)‹|「([^「」]+)」|『([^『』]+)』`;
const SPEECH = new RegExp(
  [
    DOUBLE,
    `(?<![\\p{L}\\p{N}])[‘‚](?!\\d)((?:[^‘’‚]|’(?=\\p{L}))+)[’‘](?!\\p{L})|(?<![\\p{L}\\p{N}])'(?!\\d)((?:[^']|'(?=\\p{L}))+)'(?!\\p{L})`,
  ].join("|"),
  "gu",
);
const LONG_SPEECH = new RegExp(DOUBLE.replaceAll("+)", "{1,1000})"), "gu");
/** Matches an omission in a quotation, or text that the quoting author inserted. */
const GAP = /\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…/g;
/** Matches a note mark in a text: `[3]`, or a raised number after a word. */
const NOTE_MARK = /\^?\[(?:\d{1,3}|[a-z])\]|(?<=[\p{L}.,;:!?)\]"”’])\^\d{1,3}(?!\d)/gu;
/** Matches the parts of a quotation that are compared: letters, digits, and signs that change the meaning. */
const PART = /[\p{L}\p{M}\p{N}]+|[<>=≠≤≥±×%+$€£¥]/gu;
/** Matches zero-width marks and the soft hyphen, which are invisible in words. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** Matches markup that a copy may lack: link targets and inline tags. */
const MARKUP =
  /\]\([^()\s]*(?:\s+"[^"]*")?\)|\]\[[^\]]*\]|<\/?(?:a|b|i|em|strong|code|kbd|sub|sup|br|p|span|var|tt|samp)\b[^<>]*>/gu;

/** The least number of words in a quotation that is looked up, because a shorter one is a term and not a statement. */
const LEAST_WORDS = 3;
/** The lengths of the prefixes by which a quotation is looked up, in characters. */
const SHORT_ANCHOR = 8;
const LONG_ANCHOR = 20;
/** The largest distance from an omission to the parts around it, in characters. */
const MOST_GAP = 5_000;
/** The most places at which a quotation is compared with the text. */
const MOST_PLACES = 2_000;

/** Replaces markup in `text` with blanks, so that all offsets stay. */
export function blankOutMarkup(text: string): string {
  return text.replace(MARKUP, (markup) => " ".repeat(markup.length));
}

/** Finds the quotations in a text. The results do not include the quotation marks. */
export function findQuotations(text: string): Token[] {
  return listMatches(SPEECH, text).map((match) => {
    const quoted = match.slice(1).find((part) => part !== undefined) ?? "";
    const start = match.index + match[0].indexOf(quoted);
    return { text: quoted, start, end: start + quoted.length };
  });
}

/** Returns whether a quotation is long enough to be looked up. */
export function isLongQuotation({ text }: Token): boolean {
  const words = text.replace(GAP, " ").match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= LEAST_WORDS && splitAtOmissions(text).some((part) => part.length >= SHORT_ANCHOR);
}

/** Finds quotations of at most 1,000 characters in double marks. The places include the marks. */
export function findQuotationPlaces(text: string): TextRange[] {
  return listMatches(LONG_SPEECH, text).map((match) => cutMatch(match, text));
}

/**
 * An index of passages in which quotations are looked up, in time that depends only on the quotation. Ignores white space,
 * hyphens and punctuation, so that a word that is split at a line end still matches.
 */
export class QuotableText {
  readonly #passages: string[] = [];
  /** The offset of each passage, and of each word, in the text. */
  readonly #begins: number[] = [];
  readonly #starts: number[] = [];
  #size = 0;
  #text = "";
  readonly #words = new InvertedIndex();

  /** Adds a passage. */
  add({ text }: { text: string }): void {
    const parts = normalizePlain(blankOutMarkup(text).replace(NOTE_MARK, " ")).match(PART) ?? [];
    this.#begins.push(this.#size);
    for (const part of parts) {
      this.#starts.push(this.#size);
      this.#size += part.length;
    }
    this.#passages.push(parts.join(""));
  }

  /** Returns the index of the passage in which `quotation` begins, with any text at its omissions; undefined if there is none. */
  findPassage(quotation: string): number | undefined {
    this.#index();
    const parts = splitAtOmissions(quotation);
    const anchor = parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
    const at = parts.indexOf(anchor);
    const place = this.#words
      .listBetween(hashPrefixes(anchor).at(-1) ?? 0)
      .find(
        MOST_PLACES,
        (start) => this.#text.startsWith(anchor, start) && this.#hasAround(parts, at, start),
      );
    return place === undefined ? undefined : findIndexAtLeast(this.#begins, place + 1) - 1;
  }

  #index(): void {
    if (this.#passages.length === 0) return;
    this.#text = this.#passages.join("");
    for (const start of this.#starts)
      for (const anchor of hashPrefixes(this.#text.slice(start, start + LONG_ANCHOR)))
        this.#words.add(anchor, start);
    this.#passages.length = 0;
    this.#starts.length = 0;
  }

  /** Returns whether the parts before and after the one at `place` occur near it, in order. */
  #hasAround(parts: readonly string[], at: number, place: number): boolean {
    let before = this.#text.slice(Math.max(0, place - MOST_GAP), place);
    let behind = this.#text.slice(place + (parts[at]?.length ?? 0), place + MOST_GAP);
    for (const part of parts.slice(0, at).reverse()) {
      if (!before.includes(part)) return false;
      before = before.slice(0, before.lastIndexOf(part));
    }
    for (const part of parts.slice(at + 1)) {
      if (!behind.includes(part)) return false;
      behind = behind.slice(behind.indexOf(part) + part.length);
    }
    return true;
  }
}

/** Returns the hashes of a text's prefixes, by which the text is looked up. */
function hashPrefixes(text: string): number[] {
  return [SHORT_ANCHOR, LONG_ANCHOR].flatMap((size) =>
    text.length < size ? [] : hashText(text.slice(0, size)),
  );
}

/** Splits a quotation at omissions into normalized parts. */
function splitAtOmissions(quotation: string): string[] {
  return quotation
    .replace(/\[(\p{L})\](?=\p{L})/gu, "$1")
    .split(GAP)
    .map((part) => normalizePlain(part).match(PART)?.join("") ?? "")
    .filter(Boolean);
}

function normalizePlain(text: string): string {
  return text.replace(INVISIBLE, "").normalize("NFKC").toLowerCase();
}

/** Matches the mark of a block quote. It looks back from the mark, because a long gap before it would take quadratic time. */
const BLOCK_QUOTE = ">(?<=^[ \\t]*>)";
/** Matches a number. A sign belongs to it only if neither a word nor a number precedes the sign: `1-5` is a range. */
const NUMBER = "(?:(?<![\\p{L}\\p{N}_)\\]])[-−])?(?:(?<![\\p{L}\\p{N}])\\.)?\\p{N}+(?:[.,:]\\p{N}+)*";
const WORD = `[\\p{L}\\p{M}_][\\p{L}\\p{M}\\p{N}_${INVISIBLE.source.slice(1)}*(?:['’ʼ][\\p{L}\\p{M}]+)*`;
/** Matches symbols that change the meaning. Other punctuation is ignored. */
const SYMBOL = "[<>=≠≤≥±×%+]|!(?=[\\p{L}\\p{N}_(=])|[$€£¥](?=\\p{N})";

const PATTERN = new RegExp(`(?<skip>${BLOCK_QUOTE})|${NUMBER}|${WORD}|${SYMBOL}`, "gmu");

/**
 * Splits a text into the tokens that are compared: words in lower case, numbers with signs and separators, and symbols that
 * change the meaning. Omits white space, quotation marks and emphasis.
 */
export function tokenizeText(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of listMatches(PATTERN, text)) {
    if (match.groups?.skip !== undefined) continue;
    const normal = normalizePlain(match[0])
      .replace(/[’ʼ]/g, "'")
      .replace("−", "-")
      .replace(/^_+|_+$/g, "");
    if (normal !== "") tokens.push({ text: normal, start: match.index, end: match.index + match[0].length });
  }
  return tokens;
}

/** Returns the index of the first token of each occurrence of `part` in `whole`; empty if `part` is empty. */
export function findOccurrences(whole: readonly Token[], part: readonly Token[]): number[] {
  const places: number[] = [];
  for (let at = 0; part.length > 0 && at + part.length <= whole.length; at++) {
    if (part.every((token, i) => whole[at + i]?.text === token.text)) places.push(at);
  }
  return places;
}

/** Returns whether `whole` contains `part`, token by token (see `tokenizeText`). */
export function containsTokens(whole: string, part: string): boolean {
  return findOccurrences(tokenizeText(whole), tokenizeText(part)).length > 0;
}

/** Matches a hyphen inside a word, which a line end may follow. */
const HYPHEN = /(?<=\p{L})[-\u00ad‐](?:\s*\n\s*)?(?=\p{L})/gu;
/** A quote of fewer words is accepted only if it occurs exactly once. */
const SHORTEST = 3;

/** Finds a quote in a text, word for word; undefined if it is not there. */
export function locateQuote(text: string, quote: string): TextRange | undefined {
  // A copy may omit all link targets. Those that it has must be right.
  const plain = blankOutMarkup(text);
  return (
    locateExactQuote(text, quote) ??
    (plain === text ? undefined : locateExactQuote(plain, quote)) ??
    // A copy may join a word that was split at a line end.
    locateExactQuote(replaceWordHyphens(plain), replaceWordHyphens(quote))
  );
}

/** Replaces hyphens inside words with soft hyphens, so that all offsets stay. */
function replaceWordHyphens(text: string): string {
  return text.replace(HYPHEN, (gap) => "\u00ad".repeat(gap.length));
}

function locateExactQuote(text: string, quote: string): TextRange | undefined {
  const whole = tokenizeText(text);
  const part = tokenizeText(quote);
  const [at, other] = findOccurrences(whole, part);
  if (part.length < SHORTEST && other !== undefined) return undefined;
  const first = at === undefined ? undefined : whole[at];
  const last = at === undefined ? undefined : whole[at + part.length - 1];
  return first && last && { start: first.start, end: last.end };
}
