import { findIndexFrom, hashOf, Postings } from "../../core/postings.js";
import { listMatches, type Token } from "../languages/patterns.js";

/** Text between quotation marks of any kind; no apostrophe inside a word, no inches, not `'90s`. */
const DOUBLE = `(?<![\\p{L}\\p{N}])"([^"]+)"(?![\\p{L}\\p{N}])|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^»«]+)«|‹([^‹›]+)›|›([^‹›]+)‹|「([^「」]+)」|『([^『』]+)』`;
const SPEECH = new RegExp(
  [
    DOUBLE,
    `(?<![\\p{L}\\p{N}])[‘‚](?!\\d)((?:[^‘’‚]|’(?=\\p{L}))+)[’‘](?!\\p{L})|(?<![\\p{L}\\p{N}])'(?!\\d)((?:[^']|'(?=\\p{L}))+)'(?!\\p{L})`,
  ].join("|"),
  "gu",
);
const LONG_SPEECH = new RegExp(DOUBLE.replaceAll("+)", "{1,1000})"), "gu");
/** An omission in a quotation, or text inserted by its author. */
const GAP = /\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…/g;
/** A note mark in a text: `[3]`, or a raised number after a word. */
const NOTE_MARK = /\^?\[(?:\d{1,3}|[a-z])\]|(?<=[\p{L}.,;:!?)\]"”’])\^\d{1,3}(?!\d)/gu;
/** The compared parts of a quotation: letters, digits, and signs that change its meaning. */
const PART = /[\p{L}\p{M}\p{N}]+|[<>=≠≤≥±×%+$€£¥]/gu;
/** Zero-width marks and the soft hyphen, which are invisible inside words. */
export const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** Markup that a copy may lack: targets of links and inline tags. */
const MARKUP =
  /\]\([^()\s]*(?:\s+"[^"]*")?\)|\]\[[^\]]*\]|<\/?(?:a|b|i|em|strong|code|kbd|sub|sup|br|p|span|var|tt|samp)\b[^<>]*>/gu;

/** A shorter quotation is a term and not a statement, in words. */
const LEAST_WORDS = 3;
/** How many characters of a quotation are looked up. */
const SHORT_ANCHOR = 8;
const LONG_ANCHOR = 20;
/** The largest distance between the parts around an omission, in characters. */
const MOST_GAP = 5_000;
/** The most places at which a quotation is compared. */
const MOST_PLACES = 2_000;

/** Blanks the markup of `text` and keeps all other offsets. */
export function removeMarkup(text: string): string {
  return text.replace(MARKUP, (markup) => " ".repeat(markup.length));
}

/** Finds the quotations in a text, without their marks. */
export function findQuotations(text: string): Token[] {
  return listMatches(SPEECH, text).map((match) => {
    const quoted = match.slice(1).find((part) => part !== undefined) ?? "";
    const start = match.index + match[0].indexOf(quoted);
    return { text: quoted, start, end: start + quoted.length };
  });
}

/** Whether a quotation has enough words to be looked for. */
export function isStatement({ text }: Token): boolean {
  const words = text.replace(GAP, " ").match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= LEAST_WORDS && splitParts(text).some((part) => part.length >= SHORT_ANCHOR);
}

/** Finds quotations of at most 1,000 characters in double marks; the places include the marks. */
export function findQuotationPlaces(text: string): { start: number; end: number }[] {
  return listMatches(LONG_SPEECH, text).map(({ 0: all, index }) => ({
    start: index,
    end: index + all.length,
  }));
}

/**
 * Finds quotations in passages, in time that depends only on the quotation. White space, hyphens and punctuation are
 * ignored, so that a word split at the end of a line matches split and joined.
 */
export class QuotableText {
  readonly #passages: string[] = [];
  /** The offsets of each passage and each word in the text. */
  readonly #begins: number[] = [];
  readonly #starts: number[] = [];
  #size = 0;
  #text = "";
  readonly #words = new Postings();

  /** Appends a passage. */
  add({ text }: { text: string }): void {
    const parts = normalizePlain(removeMarkup(text).replace(NOTE_MARK, " ")).match(PART) ?? [];
    this.#begins.push(this.#size);
    for (const part of parts) {
      this.#starts.push(this.#size);
      this.#size += part.length;
    }
    this.#passages.push(parts.join(""));
  }

  /** Returns the index of the passage with the beginning of `quotation`, whose omissions may differ; undefined if there is no match. */
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
    return place === undefined ? undefined : findIndexFrom(this.#begins, place + 1) - 1;
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

  /** Whether the parts before and after the one at `place` occur around it in order. */
  #hasAround(parts: readonly string[], at: number, place: number): boolean {
    const from = Math.max(0, place - MOST_GAP);
    let before = this.#text.slice(from, place);
    let behind = this.#text.slice(place + (parts[at]?.length ?? 0), place + MOST_GAP);
    const isBefore = parts
      .slice(0, at)
      .reverse()
      .every((part) => {
        const partAt = before.lastIndexOf(part);
        before = before.slice(0, Math.max(0, partAt));
        return partAt >= 0;
      });
    return (
      isBefore &&
      parts.slice(at + 1).every((part) => {
        const partAt = behind.indexOf(part);
        behind = behind.slice(partAt + part.length);
        return partAt >= 0;
      })
    );
  }
}

/** Returns the hashes of the prefixes by which a text is looked up. */
function listAnchors(text: string): number[] {
  return [SHORT_ANCHOR, LONG_ANCHOR].flatMap((size) =>
    text.length < size ? [] : hashOf(text.slice(0, size)),
  );
}

/** Splits a quotation at its omissions into normalized parts. */
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
