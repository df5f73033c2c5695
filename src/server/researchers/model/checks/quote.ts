import { type Layout, type Section, wholeSentences } from "./sentence-bounds.js";
import { occurrences, tokensOf, withoutMarkup } from "./tokens.js";

/** A shorter quote says something only where it is the only one of its kind. Counted in words. */
const SHORTEST = 3;

export interface QuotedSource {
  text: string;
  /** A place at or behind this offset is taken before one that stands earlier. */
  from: number;
  layout: Layout;
}

/**
 * The place of a quote in its source, widened to whole sentences, since a quote may begin after its negation;
 * undefined if it does not stand there word for word. Of several places the first one is taken, but not for a
 * quote of one or two words.
 */
export function findQuote(source: QuotedSource, quote: string): Section | undefined {
  const found = locate(source, quote);
  if (found !== undefined) return wholeSentences(source.text, found, source.layout);
  // A copy may lack the targets of all links; one that has targets has to have the right ones.
  const plain = withoutMarkup(quote) === undefined ? withoutMarkup(source.text) : undefined;
  const bare = plain === undefined ? undefined : locate({ ...source, text: plain }, quote);
  return bare && wholeSentences(source.text, bare, source.layout);
}

function locate({ text, from }: QuotedSource, quote: string): Section | undefined {
  const whole = tokensOf(text);
  const part = tokensOf(quote);
  const places = occurrences(whole, part);
  if (part.length < SHORTEST && places.length > 1) return undefined;
  const at = places.find((place) => (whole[place]?.start ?? 0) >= from) ?? places[0];
  const first = at === undefined ? undefined : whole[at];
  const last = at === undefined ? undefined : whole[at + part.length - 1];
  return first && last && { start: first.start, end: last.end };
}
