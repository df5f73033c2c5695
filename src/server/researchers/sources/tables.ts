import type { Passage } from "./passage.js";
import { words } from "./words.js";

/** A Markdown table with what is said around it. */
export interface Table {
  file: string;
  header: string[];
  rows: string[][];
  /** Words of its headings and of the text right above it. */
  around: Set<string>;
}

const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** The tables among `passages`, which are in the order of their files. */
export function tablesOf(passages: readonly Passage[]): Table[] {
  return passages.flatMap((passage, i) => {
    const [head, rule, ...body] = passage.lines;
    if (passage.kind !== "table" || head === undefined || rule === undefined || !RULE.test(rule)) return [];
    const before = passages[i - 1];
    const caption =
      before?.file === passage.file && before.heading === passage.heading ? before.lines.join(" ") : "";
    const header = cellsOf(head);
    const rows = body.map(cellsOf).filter((row) => row.length === header.length);
    return [{ file: passage.file, header, rows, around: new Set(words(`${passage.heading} ${caption}`)) }];
  });
}

/** As GitHub reads a row: a bar splits wherever it stands, unless a backslash is before it. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map(plain);
}

/** The text of a piece of Markdown. */
export function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__|`|\\(?=[|*_`])/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
