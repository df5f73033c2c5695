import { buildAlternation, listMatches } from "../languages/patterns.js";
import { getVocabulary } from "../languages/vocabulary.js";

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The most characters that the segmenter gets at once, because it takes quadratic time. */
const MAX_SEGMENTED = 10_000;
/** The words of all languages: if one of another language joins two sentences wrongly, that only lengthens a quote. */
const WORDS = getVocabulary(undefined);
const buildEndPattern = (words: string) => `(?:^|[^\\p{L}])${words}\\.["'’”)\\]*_]*\\s*$`;
/** Matches an abbreviation at the end of a text, whose full stop does not end the sentence. */
const ABBREVIATION = new RegExp(
  `${buildEndPattern(`(?:\\p{L}|${buildAlternation(WORDS.list("abbreviations"))})`)}|\\(see\\.\\s*$`,
  "iu",
);
/** Matches a German ordinal at the end of a text, such as the day of a date. */
const ORDINAL = /(?:^|[^\p{N}.,])\d{1,2}\.\s*$/u;
const MONTH = buildAlternation(WORDS.listOrdered("months").map(([word]) => word));
const COUNTED = new RegExp(`^(?:${MONTH}(?!\\p{L})|${buildAlternation(WORDS.list("counted"))})`, "iu");
/** How many characters before a full stop decide whether it ends the sentence. */
const LONGEST_END = 20;
/** Matches a unit after a number, which looks like an abbreviation but may end a sentence: `5 ms. Then …`, `90 km/h. Two …` */
const UNIT = /\p{N}\s?°?(?:\p{L}{1,4}\/)?(?:ms|min|\p{L})\.["'’”)\]*_]*\s*$/u;
/** Matches text that never begins a sentence: a small letter, or a closing mark. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;/]|[`'"][\s.,;)])/u;

/** Matches the blank before a sentence that begins with a number; the segmenter reads "25 % of them" as a continuation. */
const BEFORE_NUMBER = /(?<=(?:\p{L}{4}|[)\]]) *[.!?]["'”’)\]]*) +(?=[$€£¥]?\d)/gu;
/** Matches a word that a number follows: a shortened month, or a word that counts parts of a text. */
const NUMBERED = new RegExp(buildEndPattern(buildAlternation(WORDS.list("numbered"))), "iu");

/** Returns whether a text ends with an abbreviation, so that its full stop does not end a sentence. */
export function isAbbreviated(before: string): boolean {
  const end = before.slice(-LONGEST_END);
  return ABBREVIATION.test(end) && !UNIT.test(end);
}

/** Splits `text` into sentences without gaps between them. May also split a long text at a blank. */
export function* splitSentences(text: string): Generator<{ segment: string; index: number }> {
  // A line break within a paragraph does not end a sentence. Replacing it by one character keeps the offsets.
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
    for (const { segment, index } of segmenter.segment(text.slice(from, to))) {
      for (const match of listMatches(BEFORE_NUMBER, segment))
        yield from + index + match.index + match[0].length;
      yield from + index + segment.length;
    }
    from = to;
  }
}
