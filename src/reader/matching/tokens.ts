import { listMatches, type Token } from "../languages/patterns.js";
import { INVISIBLE, removeMarkup } from "./quotations.js";

/** Matched by looking back, so that a long gap takes no quadratic time. */
const BLOCK_QUOTE = ">(?<=^[ \\t]*>)";
/** A number. A sign belongs to it only if no word or number precedes it: `1-5` is a range. */
const NUMBER = "(?:(?<![\\p{L}\\p{N}_)\\]])[-−])?(?:(?<![\\p{L}\\p{N}])\\.)?\\p{N}+(?:[.,:]\\p{N}+)*";
const WORD = `[\\p{L}\\p{M}_][\\p{L}\\p{M}\\p{N}_${INVISIBLE.source.slice(1)}*(?:['’ʼ][\\p{L}\\p{M}]+)*`;
/** Symbols that change the meaning; other punctuation is ignored. */
const SYMBOL = "[<>=≠≤≥±×%+]|!(?=[\\p{L}\\p{N}_(=])|[$€£¥](?=\\p{N})";

const PATTERN = new RegExp(`(?<skip>${BLOCK_QUOTE})|${NUMBER}|${WORD}|${SYMBOL}`, "gmu");

/**
 * Splits a text into the tokens that are compared: words in lower case, numbers with their signs and separators, and
 * symbols that change the meaning. White space, quotation marks and emphasis are left out.
 */
export function tokenizeText(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of listMatches(PATTERN, text)) {
    if (match.groups?.skip !== undefined) continue;
    const normal = normalizeToken(match[0]);
    if (normal !== "") tokens.push({ text: normal, start: match.index, end: match.index + match[0].length });
  }
  return tokens;
}

/** Returns the index of the first token of each occurrence of `part` in `whole`. Empty for an empty part. */
export function findOccurrences(whole: readonly Token[], part: readonly Token[]): number[] {
  const places: number[] = [];
  for (let at = 0; part.length > 0 && at + part.length <= whole.length; at++) {
    if (part.every((token, i) => whole[at + i]?.text === token.text)) places.push(at);
  }
  return places;
}

/** Whether `whole` contains `part`, comparing the tokens of `tokenizeText`. */
export function containsTokens(whole: string, part: string): boolean {
  return findOccurrences(tokenizeText(whole), tokenizeText(part)).length > 0;
}

/** A part of a text; offsets in UTF-16 units, `end` exclusive. */
export interface Stretch {
  start: number;
  end: number;
}

/** A hyphen inside a word, possibly followed by a line end. */
const HYPHEN = /(?<=\p{L})[-\u00ad‐](?:\s*\n\s*)?(?=\p{L})/gu;
/** A shorter quote is accepted only if it occurs exactly once. In words. */
const SHORTEST = 3;

/** Finds the place where a text contains a quote word for word; undefined if it does not. */
export function locateQuote(text: string, quote: string): Stretch | undefined {
  // A copy may lack all link targets; if it has targets, they must be right.
  const plain = removeMarkup(text);
  return (
    locate(text, quote) ??
    (plain === text ? undefined : locate(plain, quote)) ??
    // A copy may also join a word that is split at the end of a line.
    locate(joinWords(plain), joinWords(quote))
  );
}

/** Replaces hyphens inside words with invisible marks and keeps all other offsets. */
function joinWords(text: string): string {
  return text.replace(HYPHEN, (gap) => "\u00ad".repeat(gap.length));
}

function locate(text: string, quote: string): Stretch | undefined {
  const whole = tokenizeText(text);
  const part = tokenizeText(quote);
  const [at, other] = findOccurrences(whole, part);
  if (part.length < SHORTEST && other !== undefined) return undefined;
  const first = at === undefined ? undefined : whole[at];
  const last = at === undefined ? undefined : whole[at + part.length - 1];
  return first && last && { start: first.start, end: last.end };
}

function normalizeToken(token: string): string {
  return token
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(/[’ʼ]/g, "'")
    .replace("−", "-")
    .replace(/^_+|_+$/g, "")
    .toLowerCase();
}
