import type { Passage } from "../../sources/search.js";
import { findQuote } from "../checks/quote.js";
import type { Fact, Sources } from "../facts.js";

/** What a model wrote down, before anything of it is checked. */
export interface Note {
  claim: string;
  /** The number that the source had in its input, from 1. */
  source: number;
  quote: string;
}

/** How much of the file around a passage is looked at, in lines: a sentence may begin above it and end below it. */
const ABOVE = 25;
const BELOW = 15;

/** The fact that a note states, its quote widened to whole sentences; undefined if the quote is not in its source. */
export async function factOf(
  { claim, quote }: Note,
  { file, line, lines, heading, kind }: Passage,
  sources: Sources,
): Promise<Fact | undefined> {
  const first = Math.max(1, line - ABOVE);
  const around = (await sources.read(file, first, line + lines.length - 1 + BELOW)) ?? lines;
  const start = around === lines ? line : first;
  const text = around.join("\n");
  const from = around.slice(0, line - start).join("\n").length;
  const layout = kind === "prose" ? "flowing" : "lines";
  const found = findQuote({ text, from, layout }, quote);
  if (found === undefined) return undefined;
  const above = text.slice(0, found.start).split("\n").length - 1;
  return { claim, file, line: start + above, heading, quote: text.slice(found.start, found.end) };
}
