import { parse } from "csv-parse/sync";
import type { Block } from "./block.js";

/** The possible separators; the one that is most frequent in the first line is used. */
const SEPARATORS = [",", ";", "\t", "|"];

/** Reads the rows of a table, with the titles in the first row if it has titles; undefined if the text is not such a table. */
export function readCsvBlocks(text: string): Block[] | undefined {
  const first = text.slice(0, 10_000).split(/\r\n|\n|\r/, 1)[0] ?? "";
  const count = (separator: string) => first.split(separator).length;
  const delimiter = SEPARATORS.reduce((best, separator) =>
    count(separator) > count(best) ? separator : best,
  );
  const shape = { bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true } as const;
  const rows: { cells: string[]; end: number }[] = [];
  // Collect rows here, because the record objects of csv-parse are larger than most rows.
  const on_record = (cells: string[], { lines: end }: { lines: number }) => void rows.push({ cells, end });
  try {
    parse(text, { ...shape, delimiter, on_record });
  } catch {
    return undefined;
  }
  const lines = text.split(/\r\n|\n|\r/);
  const header = rows.length > 1 && rows[0] && areTitles(rows[0].cells) ? rows[0].cells : undefined;
  let read = 0;
  const blocks = rows.map(({ cells, end }): Block => {
    while (read < end - 1 && lines[read]?.trim() === "") read += 1;
    const line = read + 1;
    read = Math.max(line, end);
    const block = { line, lines: lines.slice(line - 1, read), heading: "", kind: "table" as const, table: 1 };
    return { ...block, cells, ...(header && { header }) };
  });
  return header ? blocks.slice(1) : blocks;
}

/** Returns whether all cells are words, without an empty or repeated one. */
function areTitles(cells: readonly string[]): boolean {
  return (
    new Set(cells).size === cells.length && cells.every((cell) => /^\s*[\p{L}_#][^\n]{0,100}$/u.test(cell))
  );
}
