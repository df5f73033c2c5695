import type { Passage, Source } from "../../sources/source.js";
import { findQuote } from "../checks/quote.js";
import type { Fact } from "../facts.js";

/** What a model wrote down, before anything of it is checked. */
export interface Note {
  claim: string;
  /** The number that the source had in its input, from 1. */
  source: number;
  quote: string;
}

/** How far around a passage a quote is looked for, in lines: models take what they saw for the one beside it. */
const AROUND = 20;

/**
 * The fact that a note states, its quote widened to whole sentences of the one block that it stands in; undefined if
 * it stands in none.
 */
export async function factOf(
  { claim, quote }: Note,
  passage: Passage,
  source: Source,
): Promise<Fact | undefined> {
  const own = inBlock(passage, claim, quote);
  if (own !== undefined) return own;
  const { id, line, lines } = passage;
  const opened = await source.open(id, line - AROUND, line + lines.length + AROUND);
  for (const block of opened?.passages ?? []) {
    const found = inBlock(block, claim, quote);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inBlock(
  { id, line, lines, heading, kind }: Passage,
  claim: string,
  quote: string,
): Fact | undefined {
  const text = lines.join("\n");
  const found = findQuote(text, quote, kind);
  if (found === undefined) return undefined;
  const above = text.slice(0, found.start).split("\n").length - 1;
  return { claim, file: id, line: line + above, heading, quote: text.slice(found.start, found.end) };
}
