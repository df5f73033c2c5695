import { safeResult } from "../../text/safe-text.js";
import { columnsOf } from "../../text/width.js";
import type { Block, ListBlock } from "../document.js";
import { type Addresses, runsOf } from "./inlines.js";
import { LOOK, lineOf, prefixed, type Run, type StyledLine } from "./line.js";
import { tableLines } from "./table.js";
import { wrap, wrapVerbatim } from "./wrap.js";

/** Where less would be left, nested blocks are not set off any more. */
const MIN_COLUMNS = 16;
const UNDERLINES = ["═", "─"];

/** Blocks in lines of at most `columns`, with an empty line between two blocks unless `tight`. */
export function blockLines(
  blocks: readonly Block[],
  columns: number,
  addresses: Addresses,
  tight = false,
): StyledLine[] {
  const lines: StyledLine[] = [];
  for (const block of blocks) {
    if (lines.length > 0 && !tight) lines.push(lineOf());
    for (const line of linesOf(block, columns, addresses)) lines.push(line);
  }
  return lines;
}

function linesOf(block: Block, columns: number, addresses: Addresses): StyledLine[] {
  switch (block.kind) {
    case "heading":
      return heading(block.level, runsOf(block.inlines, addresses, LOOK.bold | LOOK.heading), columns);
    case "paragraph":
      return wrap(runsOf(block.inlines, addresses), columns);
    case "plain":
      return wrapVerbatim(safeResult(block.text.replace(/\r\n?/g, "\n").replace(/\n+$/, "")), 0, columns);
    case "code":
      return setOff(blank(4), blank(4), columns, (inner) =>
        wrapVerbatim(safeResult(block.text), LOOK.code, inner),
      );
    case "quote": {
      const bar = { text: "│ ", look: LOOK.faint };
      return setOff(bar, bar, columns, (inner) => blockLines(block.blocks, inner, addresses));
    }
    case "list":
      return listLines(block, columns, addresses);
    case "table":
      return tableLines(block, columns, addresses);
    case "rule":
      return [lineOf({ text: "─".repeat(columns), look: LOOK.faint })];
  }
}

function heading(level: number, runs: Run[], columns: number): StyledLine[] {
  const underline = UNDERLINES[level - 1];
  if (underline === undefined) {
    const hashes = { text: `${"#".repeat(level)} `, look: LOOK.faint };
    return setOff(hashes, blank(level + 1), columns, (inner) => wrap(runs, inner));
  }
  const lines = wrap(runs, columns);
  const width = lines.reduce((widest, line) => Math.max(widest, line.columns), 0);
  return [...lines, lineOf({ text: underline.repeat(width), look: LOOK.faint })];
}

function listLines({ start, loose, items }: ListBlock, columns: number, addresses: Addresses): StyledLine[] {
  const markers = items.map(({ checked }, index) => {
    const mark = start === undefined ? "•" : `${start + index}.`;
    return checked === undefined ? mark : `${start === undefined ? "" : `${mark} `}[${checked ? "x" : " "}]`;
  });
  const width = markers.reduce((widest, marker) => Math.max(widest, columnsOf(marker)), 0);
  return items.flatMap(({ blocks }, index) => {
    const marker = { text: `${(markers[index] ?? "").padStart(width)} `, look: LOOK.faint };
    const lines = setOff(marker, blank(width + 1), columns, (inner) =>
      blockLines(blocks, inner, addresses, !loose),
    );
    return loose && index > 0 ? [lineOf(), ...lines] : lines;
  });
}

/** Lines with `first` and `rest` before them, if enough columns are left for that. */
function setOff(
  first: Run,
  rest: Run,
  columns: number,
  lay: (columns: number) => StyledLine[],
): StyledLine[] {
  const inner = columns - columnsOf(rest.text);
  if (inner < MIN_COLUMNS) return lay(columns);
  const lines = lay(inner);
  return prefixed(lines.length > 0 ? lines : [lineOf()], first, rest);
}

function blank(columns: number): Run {
  return { text: " ".repeat(columns), look: 0 };
}
