const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** What the segmenter is given at once, in characters: its time grows with the square of that. */
const MAX_SEGMENTED = 10_000;
/** A full stop after one of these ends no sentence. To join too much only makes a quote longer. */
const ABBREVIATION =
  /(?:^|[^\p{L}])(?:\p{L}|e\.g|i\.e|etc|vs|cf|approx|nos?|dr|mrs?|ms|st|figs?|secs?|ch|vol|pp?|inc|ltd|co|corp|jr|sr|al|ca|resp|incl|excl|max|min|est|dept|viz|mrd|mio|tsd|bzw|vgl|usw|bspw|ggf|abb|tab|kap|str|inkl|zzgl|prof|gov|sen|rep|univ|eds?|vols)\.["'’”)\]*_]*\s*$|\(see\.\s*$/iu;
/** The day of a German date, and what else German counts. */
const ORDINAL = /(?:^|[^\p{N}.,])\d{1,2}\.\s*$/u;
const COUNTED =
  /^(?:Jan|Jän|Feb|März|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jahrtausend|Auflage|Lebensjahr|Platz|Kapitel)/;
/** What looks like an abbreviation, and is the unit of a number: `It takes 5 ms. Then …` */
const UNIT = /\p{N}\s?°?(?:ms|min|\p{L})\.["'’”)\]*_]*\s*$/u;
/** What no sentence begins with: a small letter, or a mark that closes what was opened before. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;/]|[`'"][\s.,;)])/u;

/** A month as it is shortened, and what numbers the parts of a law: a number goes on with them. */
const NUMBERED =
  /(?:^|[^\p{L}])(?:jan|feb|mar|apr|jun|jul|aug|sept?|okt|oct|nov|de[cz]|abs|art|nr|ziff|rn)\.\s*$/iu;

/** Whether the full stop at the end of a text belongs to an abbreviation, and not to a sentence. */
export function isAbbreviated(before: string): boolean {
  return ABBREVIATION.test(before) && !UNIT.test(before);
}

/** The sentences of `text`, one after the other without a gap; in a long text one may be cut at a blank. */
export function* sentencesIn(text: string): Generator<{ segment: string; index: number }> {
  // A line break inside a paragraph ends no sentence; one character for one keeps the offsets.
  const flat = text.replace(/\s/g, " ");
  let index = 0;
  for (const end of segmentEnds(flat)) {
    const before = flat.slice(Math.max(index, end - 20), end);
    const goesOn =
      isAbbreviated(before) ||
      GOES_ON.test(flat.slice(end, end + 2)) ||
      (ORDINAL.test(before) && COUNTED.test(flat.slice(end, end + 12))) ||
      (NUMBERED.test(before) && /\d/.test(flat[end] ?? ""));
    if (goesOn && end < flat.length) continue;
    yield { segment: text.slice(index, end), index };
    index = end;
  }
}

function* segmentEnds(text: string): Generator<number> {
  for (let from = 0; from < text.length; ) {
    const most = from + MAX_SEGMENTED;
    const blank = text.lastIndexOf(" ", most) + 1;
    const to = most < text.length && blank > from ? blank : most;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      yield from + index + segment.length;
    from = to;
  }
}
