import type { Place } from "./document.js";

/** Where a part of a text stands in the document that it was taken from. Offsets in UTF-16 units. */
export type PlaceOf = (from: number, to: number) => Place;

/** Where each line of a document ends, without the blanks at its end. */
export function listLineEnds(document: string): number[] {
  return [...document.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)].map(
    ({ 0: line, index }) => index + line.trimEnd().length,
  );
}

/**
 * The places of a text of whole lines, of which the first is line `first` of the document. What holds a text (a quote, a
 * list) takes marks and blanks from the beginnings of its lines, but never a line.
 */
export function createPlaceOf(text: string, ends: readonly number[], first: number): PlaceOf {
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
