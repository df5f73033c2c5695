/** What a model noted, with a quote that was found in its source. */
export interface Fact {
  /** What the model makes of the quote; not checked. */
  claim: string;
  file: string;
  /** Where the quote begins, from 1. */
  line: number;
  /** The headings above it, outermost first; empty if there is none. */
  heading: string;
  /** Whole sentences, as they stand in the source, line breaks included. */
  quote: string;
}

/** `file:line`, as reports name a place. */
export function placeOf({ file, line }: Fact): string {
  return `${file}:${line}`;
}
