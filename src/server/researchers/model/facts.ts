import type { Passage, SourceDocument } from "../sources/source.js";
import { findQuote } from "./checks/quote.js";

/** A stretch of a document, as a model reads it. */
export interface Section {
  document: SourceDocument;
  passages: Passage[];
}

/** What a model noted, with a quote that was found in its source. */
export interface Fact {
  /** What the model makes of the quote; not checked. */
  claim: string;
  document: SourceDocument;
  /** Where the quote begins, from 1. */
  line: number;
  /** The headings above it, outermost first; empty if there are none. */
  heading: string;
  /** The titles of the columns, if the quote is a row of a table. */
  header?: Passage["header"];
  /** A part of one block, as it stands in the source, line breaks included. */
  quote: string;
}

/**
 * The fact that a note states, its quote widened to whole sentences of the one block that it stands in; undefined if
 * it stands in none.
 */
export function factOf(
  { claim, quote }: Pick<Fact, "claim" | "quote">,
  { document, passages }: Section,
): Fact | undefined {
  for (const { line, lines, heading, header, kind } of passages) {
    const text = lines.join("\n");
    const found = findQuote(text, quote, kind);
    if (found === undefined) continue;
    const above = text.slice(0, found.start).split("\n").length - 1;
    const place = { document, line: line + above, heading, ...(header && { header }) };
    return { claim, ...place, quote: text.slice(found.start, found.end) };
  }
  return undefined;
}

/** What a sentence may take its numbers from: the quote and what stands over it. */
export function groundOf({ heading, header, quote }: Fact): string {
  return [heading, ...(header ?? []), quote].join("\n");
}
