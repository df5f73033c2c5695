const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** What the segmenter is given at once, in characters: its time grows with the square of that. */
const MAX_SEGMENTED = 10_000;
/** A full stop after one of these ends no sentence. To join too much only makes a quote longer. */
const ABBREVIATION =
  /(?:^|[^\p{L}])(?:\p{L}|e\.g|i\.e|etc|vs|cf|approx|nos?|dr|mrs?|ms|st|figs?|secs?|ch|vol|pp?|inc|ltd|co|corp|jr|sr|al|ca|resp|incl|excl|max|min|est|dept|viz)\.["'’”)\]*_]*\s*$|\(see\.\s*$/iu;
/** What no sentence begins with: a small letter, or a mark that closes what was opened before. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;]|[`'"][\s.,;)])/u;

/** The sentences of `text`, one after the other without a gap; in a long text one may be cut at a blank. */
export function* sentencesIn(text: string): Generator<{ segment: string; index: number }> {
  // A line break inside a paragraph ends no sentence; one character for one keeps the offsets.
  const flat = text.replace(/\s/g, " ");
  let index = 0;
  for (const end of segmentEnds(flat)) {
    const goesOn =
      ABBREVIATION.test(flat.slice(Math.max(index, end - 20), end)) || GOES_ON.test(flat.slice(end, end + 2));
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
