import { hashOf, indexFrom, Postings } from "../../core/postings.js";
import { listMatches, type Token } from "../languages/patterns.js";

/** What stands between quotation marks, in every kind of them; no apostrophe inside a word, no inches, not `'90s`. */
const DOUBLE = `(?<![\\p{L}\\p{N}])"([^"]+)"(?![\\p{L}\\p{N}])|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^»«]+)«|‹([^‹›]+)›|›([^‹›]+)‹|「([^「」]+)」|『([^『』]+)』`;
const SPEECH = new RegExp(
  [
    DOUBLE,
    `(?<![\\p{L}\\p{N}])[‘‚](?!\\d)((?:[^‘’‚]|’(?=\\p{L}))+)[’‘](?!\\p{L})|(?<![\\p{L}\\p{N}])'(?!\\d)((?:[^']|'(?=\\p{L}))+)'(?!\\p{L})`,
  ].join("|"),
  "gu",
);
const LONG_SPEECH = new RegExp(DOUBLE.replaceAll("+)", "{1,1000})"), "gu");
/** What is left out of a quotation, or put into it by the one who quotes. */
const GAP = /\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…/g;
/** What points from a text to its notes: `[3]`, or a raised number behind a word. */
const NOTE_MARK = /\^?\[(?:\d{1,3}|[a-z])\]|(?<=[\p{L}.,;:!?)\]"”’])\^\d{1,3}(?!\d)/gu;
/** What is compared of a quotation: letters, digits, and the signs that change what is said. */
const PART = /[\p{L}\p{M}\p{N}]+|[<>=≠≤≥±×%+$€£¥]/gu;
/** Zero-width marks and the soft hyphen: they stand inside words and are not seen. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** Markup that a copy may lack: targets of links and inline tags. */
const MARKUP =
  /\]\([^()\s]*(?:\s+"[^"]*")?\)|\]\[[^\]]*\]|<\/?(?:a|b|i|em|strong|code|kbd|sub|sup|br|p|span|var|tt|samp)\b[^<>]*>/gu;

/** A shorter quotation is a term, not something that somebody said, in words. */
const LEAST_WORDS = 3;
/** How many characters of a quotation are looked up. */
const SHORT_ANCHOR = 8;
const LONG_ANCHOR = 20;
/** The parts around a gap stand so near one another, in characters. */
const MOST_GAP = 5_000;
/** A quotation is compared at so many places. */
const MOST_PLACES = 2_000;

/** `text` with its markup blanked, every other character where it was. */
export function removeMarkup(text: string): string {
  return text.replace(MARKUP, (markup) => " ".repeat(markup.length));
}

/** What stands between quotation marks in a text, without them. */
export function findQuotations(text: string): Token[] {
  return listMatches(SPEECH, text).map((match) => {
    const quoted = match.slice(1).find((part) => part !== undefined) ?? "";
    const start = match.index + match[0].indexOf(quoted);
    return { text: quoted, start, end: start + quoted.length };
  });
}

/** Whether a quotation has words enough to be looked for. */
export function isStatement({ text }: Token): boolean {
  const words = text.replace(GAP, " ").match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= LEAST_WORDS && splitParts(text).some((part) => part.length >= SHORT_ANCHOR);
}

/** Where quotations of at most 1,000 characters in double marks stand, with their marks. */
export function findQuotationPlaces(text: string): { start: number; end: number }[] {
  return listMatches(LONG_SPEECH, text).map(({ 0: all, index }) => ({
    start: index,
    end: index + all.length,
  }));
}

/**
 * Passages in which quotations are looked for, each in time that grows with the quotation alone. White space, hyphens and
 * punctuation do not count, so that a word that is split at the end of a line is read split and joined.
 */
export class QuotableText {
  readonly #passages: string[] = [];
  /** Where each passage and each word begins in the text. */
  readonly #begins: number[] = [];
  readonly #starts: number[] = [];
  #size = 0;
  #text = "";
  readonly #words = new Postings();

  /** Adds a passage behind the others. */
  add({ text }: { text: string }): void {
    const parts = normalizePlain(removeMarkup(text).replace(NOTE_MARK, " ")).match(PART) ?? [];
    this.#begins.push(this.#size);
    for (const part of parts) {
      this.#starts.push(this.#size);
      this.#size += part.length;
    }
    this.#passages.push(parts.join(""));
  }

  /** The index of the passage where all of `quotation` begins, what it leaves out by "…" or "[…]" aside; undefined if there is none. */
  findPassage(quotation: string): number | undefined {
    this.#index();
    const parts = splitParts(quotation);
    const anchor = parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
    const at = parts.indexOf(anchor);
    const place = this.#words
      .listBetween(listAnchors(anchor).at(-1) ?? 0)
      .find(
        MOST_PLACES,
        (start) => this.#text.startsWith(anchor, start) && this.#hasAround(parts, at, start),
      );
    return place === undefined ? undefined : indexFrom(this.#begins, place + 1) - 1;
  }

  #index(): void {
    if (this.#passages.length === 0) return;
    this.#text = this.#passages.join("");
    for (const start of this.#starts)
      for (const anchor of listAnchors(this.#text.slice(start, start + LONG_ANCHOR)))
        this.#words.add(anchor, start);
    this.#passages.length = 0;
    this.#starts.length = 0;
  }

  /** Whether the parts before and behind the one at `place` stand there in their order. */
  #hasAround(parts: readonly string[], at: number, place: number): boolean {
    const from = Math.max(0, place - MOST_GAP);
    let before = this.#text.slice(from, place);
    let behind = this.#text.slice(place + (parts[at]?.length ?? 0), place + MOST_GAP);
    const isBefore = parts
      .slice(0, at)
      .reverse()
      .every((part) => {
        const found = before.lastIndexOf(part);
        before = before.slice(0, Math.max(0, found));
        return found >= 0;
      });
    return (
      isBefore &&
      parts.slice(at + 1).every((part) => {
        const found = behind.indexOf(part);
        behind = behind.slice(found + part.length);
        return found >= 0;
      })
    );
  }
}

/** By what a text is looked up: its first characters, and more of them if it has more. */
function listAnchors(text: string): number[] {
  return [SHORT_ANCHOR, LONG_ANCHOR].flatMap((size) =>
    text.length < size ? [] : hashOf(text.slice(0, size)),
  );
}

/** The parts of a quotation around what it leaves out, as they are compared. */
function splitParts(quotation: string): string[] {
  return quotation
    .replace(/\[(\p{L})\](?=\p{L})/gu, "$1")
    .split(GAP)
    .map((part) => normalizePlain(part).match(PART)?.join("") ?? "")
    .filter(Boolean);
}

function normalizePlain(text: string): string {
  return text.replace(INVISIBLE, "").normalize("NFKC").toLowerCase();
}
