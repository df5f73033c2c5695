const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** What the segmenter is given at once, in characters: its time grows with the square of that. */
const MAX_SEGMENTED = 10_000;

/** The sentences of `text` as the segmenter sees them, one after the other without a gap; in a long text one may be cut at a blank. */
export function* sentenceSegments(text: string): Generator<{ segment: string; index: number }> {
  for (let from = 0; from < text.length; ) {
    const most = from + MAX_SEGMENTED;
    const blank = text.lastIndexOf(" ", most) + 1;
    const to = most < text.length && blank > from ? blank : most;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      yield { segment, index: from + index };
    from = to;
  }
}
