import type { Opened, Passage, SourceDocument } from "../finding/source.js";
import { locateQuote, type Stretch } from "../matching/tokens.js";
import { isComment } from "../reading/blocks/code-blocks.js";
import { splitSentences } from "../reading/sentences-in.js";

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
export function buildFact(
  { claim, quote }: Pick<Fact, "claim" | "quote">,
  { document, passages }: Opened,
): Fact | undefined {
  for (const { line, lines, heading, header, kind } of passages) {
    const text = lines.join("\n");
    const quoted = findQuote(text, quote, kind);
    if (quoted === undefined) continue;
    const above = lines.findIndex((_, i) => lines.slice(0, i + 1).join("\n").length > quoted.start);
    const place = { document, line: line + above, heading, ...(header && { header }) };
    return { claim, ...place, quote: text.slice(quoted.start, quoted.end) };
  }
  return undefined;
}

/** What a sentence may take its numbers from: the quote and what stands over it. */
export function groundOf({ heading, header, quote }: Fact): string {
  return [heading, ...(header ?? []), quote].join("\n");
}

/**
 * The place of a quote in the text of one block, widened to whole sentences (in code to whole lines, in a table to the
 * row), since a quote may begin after its negation; undefined if it does not stand there word for word.
 */
export function findQuote(text: string, quote: string, kind: Passage["kind"]): Stretch | undefined {
  const place = locateQuote(text, quote);
  if (place === undefined) return undefined;
  if (kind === "table") return trimStretch(text, { start: 0, end: text.length });
  return trimStretch(text, kind === "code" ? extendToLines(text, place) : extendToSentences(text, place));
}

/** `section` extended to the sentences that it touches. */
function extendToSentences(text: string, { start, end }: Stretch): Stretch {
  const ends = [...splitSentences(text)].map(({ segment, index }) => index + segment.length);
  return {
    start: ends.findLast((at) => at <= start) ?? 0,
    end: ends.find((at) => at >= end) ?? text.length,
  };
}

/** `section` extended to the lines that it touches; a comment of several lines is not cut. */
function extendToLines(text: string, { start, end }: Stretch): Stretch {
  const countLine = (offset: number) => text.slice(0, offset).split("\n").length - 1;
  const lines = text.split("\n");
  let first = countLine(start);
  let last = countLine(end);
  while (first > 0 && isComment(lines[first] ?? "") && isComment(lines[first - 1] ?? "")) first -= 1;
  while (isComment(lines[last] ?? "") && isComment(lines[last + 1] ?? "")) last += 1;
  const before = lines.slice(0, first).join("\n").length + (first > 0 ? 1 : 0);
  return { start: before, end: before + lines.slice(first, last + 1).join("\n").length };
}

function trimStretch(text: string, { start, end }: Stretch): Stretch {
  const inside = text.slice(start, end);
  return {
    start: start + (inside.length - inside.trimStart().length),
    end: end - (inside.length - inside.trimEnd().length),
  };
}
