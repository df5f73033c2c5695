import type { Span } from "./document-types.js";

/** Returns the place in the document of a part of a text, given by offsets in UTF-16 units. */
export type RangeMapper = (from: number, to: number) => Span;

/** Lists the offset of the end of each line, not counting trailing blanks. */
export function listLineEndOffsets(document: string): number[] {
  return [...document.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)].map(
    ({ 0: line, index }) => index + line.trimEnd().length,
  );
}

/**
 * Creates a function that maps offsets in a text to places in the document. The text consists of whole lines, from line `first`
 * on. A container (quote or list) removes marks and blanks at the start of lines, but never a whole line.
 */
export function createRangeMapper(text: string, ends: readonly number[], first: number): RangeMapper {
  let start = 0;
  const lines = text.split("\n").map((line, i) => {
    const begin = start;
    start += line.length + 1;
    return { begin, shift: (ends[first + i] ?? 0) - line.trimEnd().length - begin };
  });
  let at = 0;
  const placeOf = (offset: number) => {
    while (offset < (lines[at]?.begin ?? 0)) at -= 1;
    while (offset >= (lines[at + 1]?.begin ?? Infinity)) at += 1;
    return offset + (lines[at]?.shift ?? 0);
  };
  return (from, to) => {
    const begin = placeOf(from);
    return { start: begin, end: to > from ? placeOf(to - 1) + 1 : begin };
  };
}
