import { getVocabulary } from "../languages/languages.js";
import { buildAlternation } from "../languages/patterns.js";

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** What the segmenter is given at once, in characters: its time grows with the square of that. */
const MAX_SEGMENTED = 10_000;
/** The words of every language: to join too much only makes a quote longer. */
const WORDS = getVocabulary(undefined);
const endingWith = (words: string) => `(?:^|[^\\p{L}])${words}\\.["'’”)\\]*_]*\\s*$`;
/** A full stop after one of these ends no sentence. */
const ABBREVIATION = new RegExp(
  `${endingWith(`(?:\\p{L}|${buildAlternation(WORDS.list("abbreviations"))})`)}|\\(see\\.\\s*$`,
  "iu",
);
/** The day of a German date, and what else German counts. */
const ORDINAL = /(?:^|[^\p{N}.,])\d{1,2}\.\s*$/u;
const MONTH = buildAlternation(WORDS.listMonths().map(([word]) => word));
const COUNTED = new RegExp(`^(?:${MONTH}(?!\\p{L})|${buildAlternation(WORDS.list("counted"))})`, "iu");
/** How much before a full stop tells whether it ends a sentence, in characters. */
const LONGEST_END = 20;
/** What looks like an abbreviation, and is the unit of a number: `It takes 5 ms. Then …` */
const UNIT = /\p{N}\s?°?(?:ms|min|\p{L})\.["'’”)\]*_]*\s*$/u;
/** What no sentence begins with: a small letter, or a mark that closes what was opened before. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;/]|[`'"][\s.,;)])/u;

/** What a number stands behind: a month as it is shortened, and what counts the parts of a text. */
const NUMBERED = new RegExp(endingWith(buildAlternation(WORDS.list("numbered"))), "iu");

/** Whether the full stop at the end of a text belongs to an abbreviation, and not to a sentence. */
export function isAbbreviated(before: string): boolean {
  const end = before.slice(-LONGEST_END);
  return ABBREVIATION.test(end) && !UNIT.test(end);
}

/** The sentences of `text`, one after the other without a gap; in a long text one may be cut at a blank. */
export function* splitSentences(text: string): Generator<{ segment: string; index: number }> {
  // A line break inside a paragraph ends no sentence; one character for one keeps the offsets.
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
