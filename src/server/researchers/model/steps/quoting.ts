import { findQuote } from "../checks/quote.js";
import type { Fact } from "../facts.js";
import type { Section } from "../prompts.js";

/** What a model wrote down, before anything of it is checked. */
export interface Note {
  claim: string;
  /** The number that the source had in its input, from 1. */
  source: number;
  quote: string;
}

/**
 * The fact that a note states, its quote widened to whole sentences of the one block that it stands in; undefined if
 * it stands in none.
 */
export function factOf({ claim, quote }: Note, { document, passages }: Section): Fact | undefined {
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
