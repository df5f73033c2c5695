import { getVocabulary } from "../languages/languages.js";
import { buildAlternation } from "../languages/patterns.js";

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The most text that the segmenter gets at once, in characters: its time is quadratic. */
const MAX_SEGMENTED = 10_000;
/** The words of all languages: a wrong join only makes a quote longer. */
const WORDS = getVocabulary(undefined);
const buildEndPattern = (words: string) => `(?:^|[^\\p{L}])${words}\\.["'’”)\\]*_]*\\s*$`;
/** An abbreviation whose full stop ends no sentence. */
const ABBREVIATION = new RegExp(
  `${buildEndPattern(`(?:\\p{L}|${buildAlternation(WORDS.list("abbreviations"))})`)}|\\(see\\.\\s*$`,
  "iu",
);
/** The day of a German date, or another German ordinal. */
const ORDINAL = /(?:^|[^\p{N}.,])\d{1,2}\.\s*$/u;
const MONTH = buildAlternation(WORDS.listMonths().map(([word]) => word));
const COUNTED = new RegExp(`^(?:${MONTH}(?!\\p{L})|${buildAlternation(WORDS.list("counted"))})`, "iu");
/** How much text before a full stop decides whether it ends a sentence, in characters. */
const LONGEST_END = 20;
/** A unit after a number that looks like an abbreviation: `It takes 5 ms. Then …` */
const UNIT = /\p{N}\s?°?(?:ms|min|\p{L})\.["'’”)\]*_]*\s*$/u;
/** Text that never begins a sentence: a small letter, or a closing mark. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;/]|[`'"][\s.,;)])/u;

/** A word before a number: a shortened month, or a word that counts parts of a text. */
const NUMBERED = new RegExp(buildEndPattern(buildAlternation(WORDS.list("numbered"))), "iu");

/** Whether the full stop at the end of a text belongs to an abbreviation instead of ending a sentence. */
export function isAbbreviated(before: string): boolean {
  const end = before.slice(-LONGEST_END);
  return ABBREVIATION.test(end) && !UNIT.test(end);
}

/** Splits `text` into sentences without gaps; a long text may also be split at a blank. */
export function* splitSentences(text: string): Generator<{ segment: string; index: number }> {
  // A line break inside a paragraph ends no sentence; replacing it by one character keeps the offsets.
  const flat = text.replace(/\s/g, " ");
  let index = 0;
  for (const end of iterateSegmentEnds(flat)) {
    const last = flat.slice(Math.max(index, end - LONGEST_END), end);
    const goesOn =
      isAbbreviated(last) ||
      GOES_ON.test(flat.slice(end, end + 2)) ||
      (ORDINAL.test(last) && COUNTED.test(flat.slice(end, end + 12))) ||
      (NUMBERED.test(last) && /\d/.test(flat[end] ?? ""));
    if (goesOn && end < flat.length) continue;
    yield { segment: text.slice(index, end), index };
    index = end;
  }
}

function* iterateSegmentEnds(text: string): Generator<number> {
  for (let from = 0; from < text.length; ) {
    const most = from + MAX_SEGMENTED;
    const blank = text.lastIndexOf(" ", most) + 1;
    const to = most < text.length && blank > from ? blank : most;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      yield from + index + segment.length;
    from = to;
  }
}
