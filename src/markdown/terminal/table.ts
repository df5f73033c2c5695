import type { TableBlock } from "../document.js";
import { type Addresses, runsOf } from "./inlines.js";
import { LOOK, lineOf, prefixed, type Run, type StyledLine } from "./line.js";
import { measure, wrap } from "./wrap.js";

type Row = Run[][];
type Align = TableBlock["align"][number];

const GAP = " │ ";

/** A table whose cells wrap; one entry below the other where its words do not fit side by side. */
export function tableLines(
  { align, head, rows }: TableBlock,
  columns: number,
  addresses: Addresses,
): StyledLine[] {
  const header = head.map((cell) => runsOf(cell, addresses, LOOK.bold));
  const body = rows.map((row) => row.map((cell) => runsOf(cell, addresses)));
  const widths = columnWidths([header, ...body], columns - GAP.length * (header.length - 1));
  return widths ? grid(header, body, widths, align) : entries(header, body, columns);
}

/** Columns for each column of the table; undefined if words would have to be parted. */
function columnWidths(rows: readonly Row[], available: number): number[] | undefined {
  const least: number[] = [];
  const best: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      const need = measure(cell);
      least[index] = Math.max(least[index] ?? 1, need.least);
      best[index] = Math.max(best[index] ?? 1, need.best);
    }
  }
  const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width, 0);
  if (sum(least) > available) return undefined;
  // The widest columns give way first.
  const cappedAt = (cap: number) => best.map((width, i) => Math.max(least[i] ?? 1, Math.min(width, cap)));
  let cap = 1;
  while (cap < available && sum(cappedAt(cap + 1)) <= available) cap++;
  return cappedAt(cap);
}

function grid(header: Row, body: readonly Row[], widths: number[], align: readonly Align[]): StyledLine[] {
  const rule = lineOf({ text: widths.map((width) => "─".repeat(width)).join("─┼─"), look: LOOK.faint });
  const rows = body.map((row) => rowLines(row, widths, align));
  const parted = rows.some((lines) => lines.length > 1);
  return [
    ...rowLines(header, widths, align),
    rule,
    ...rows.flatMap((lines, index) => (parted && index > 0 ? [rule, ...lines] : lines)),
  ];
}

function rowLines(row: Row, widths: readonly number[], align: readonly Align[]): StyledLine[] {
  const cells = widths.map((width, index) => wrap(row[index] ?? [], width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) => {
    const runs = cells.flatMap((lines, x) => {
      const cell = padded(lines[y] ?? lineOf(), widths[x] ?? 0, align[x] ?? null);
      return x === 0 ? cell : [{ text: GAP, look: LOOK.faint }, ...cell];
    });
    return lineOf(...runs);
  });
}

function padded({ runs, columns }: StyledLine, width: number, align: Align): Run[] {
  const space = Math.max(0, width - columns);
  const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
  const blank = (length: number) => ({ text: " ".repeat(length), look: 0 });
  return [blank(before), ...runs, blank(space - before)];
}

/** Each row as `head: cell` lines, with an empty line between two rows. */
function entries(header: Row, body: readonly Row[], columns: number): StyledLine[] {
  const rows = body.length > 0 ? body : [header.map(() => [])];
  return rows.flatMap((row, index) => {
    const lines = row.flatMap((cell, x) => {
      const name = header[x] ?? [];
      const runs = name.length > 0 ? [...name, { text: ": ", look: LOOK.bold }, ...cell] : cell;
      const blank = { text: "  ", look: 0 };
      const [first = lineOf(), ...rest] = wrap(runs, columns - 2);
      return [first, ...prefixed(rest, blank, blank)];
    });
    return index === 0 ? lines : [lineOf(), ...lines];
  });
}
