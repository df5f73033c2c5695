import { locateQuote, type TextRange } from "../matching/quotations.js";
import { isComment } from "../parsing/blocks/code-blocks.js";
import { splitSentences } from "../parsing/split-sentences.js";
import type { Opened, Passage, SourceDocument } from "../searching/source.js";

/** A model's note whose quote was found in the source. */
export interface Fact {
  /** What the model concludes from the quote; not checked. */
  claim: string;
  document: SourceDocument;
  /** The line where the quote begins, from 1. */
  line: number;
  /** The headings above the quote, outermost first; empty without headings. */
  heading: string;
  /** The column titles, if the quote is a table row. */
  header?: Passage["header"];
  /** The quote: a part of one block, exactly as in the source, including line breaks. */
  quote: string;
}

/** Builds a fact from a note, with the quote widened as by findQuote; undefined if no block contains the quote. */
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

/** Returns the text from which a sentence may take its numbers: the quote and the headings above it. */
export function joinQuotedText({ heading, header, quote }: Fact): string {
  return [heading, ...(header ?? []), quote].join("\n");
}

/**
 * Finds a quote in the text of one block, word for word; undefined if it is not there. Widens it, because a negation may
 * precede it: to whole sentences, in code to lines, in a table to the row.
 */
export function findQuote(text: string, quote: string, kind: Passage["kind"]): TextRange | undefined {
  const place = locateQuote(text, quote);
  if (place === undefined) return undefined;
  if (kind === "table") return trimStretch(text, { start: 0, end: text.length });
  return trimStretch(text, kind === "code" ? extendToLines(text, place) : extendToSentences(text, place));
}

/** Extends a stretch to whole sentences. */
function extendToSentences(text: string, { start, end }: TextRange): TextRange {
  const ends = [...splitSentences(text)].map(({ segment, index }) => index + segment.length);
  return {
    start: ends.findLast((at) => at <= start) ?? 0,
    end: ends.find((at) => at >= end) ?? text.length,
  };
}

/** Extends a stretch to whole lines and to whole comments. */
function extendToLines(text: string, { start, end }: TextRange): TextRange {
  const countLine = (offset: number) => text.slice(0, offset).split("\n").length - 1;
  const lines = text.split("\n");
  let first = countLine(start);
  let last = countLine(end);
  while (first > 0 && isComment(lines[first] ?? "") && isComment(lines[first - 1] ?? "")) first -= 1;
  while (isComment(lines[last] ?? "") && isComment(lines[last + 1] ?? "")) last += 1;
  const before = lines.slice(0, first).join("\n").length + (first > 0 ? 1 : 0);
  return { start: before, end: before + lines.slice(first, last + 1).join("\n").length };
}

function trimStretch(text: string, { start, end }: TextRange): TextRange {
  const inside = text.slice(start, end);
  return {
    start: start + (inside.length - inside.trimStart().length),
    end: end - (inside.length - inside.trimEnd().length),
  };
}
