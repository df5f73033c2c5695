import { escapeResult } from "../../text/safe-text.js";
import { measureColumns } from "../../text/width.js";
import {
  type Inline,
  type ListBlock,
  type MarkdownBlock,
  normalizeAddress,
  type TableBlock,
} from "../document.js";
import { shiftText } from "../inlines.js";
import {
  buildLine,
  LOOK,
  measure,
  prefixLines,
  type Run,
  type StyledLine,
  wrap,
  wrapVerbatim,
} from "./wrap.js";

/** The least columns for nested blocks; with fewer, they are not indented. */
const MIN_COLUMNS = 16;
const UNDERLINES = ["═", "─"];

/** Lays out blocks in lines of at most `columns`, with an empty line between blocks unless `tight`. */
export function layOutBlocks(
  blocks: readonly MarkdownBlock[],
  columns: number,
  addresses: Addresses,
  tight = false,
): StyledLine[] {
  const lines: StyledLine[] = [];
  for (const [i, block] of blocks.entries()) {
    const blockLines = layOutBlock(block, columns, addresses);
    if (lines.length > 0 && blockLines.length > 0 && !tight && !isNextLine(blocks[i - 1], block))
      lines.push(buildLine());
    for (const line of blockLines) lines.push(line);
  }
  return lines;
}

/** Whether two paragraphs are lines of the same paragraph in the document, such as works that are listed line by line. */
function isNextLine(before: MarkdownBlock | undefined, block: MarkdownBlock): boolean {
  const isBoth = before?.kind === "paragraph" && block.kind === "paragraph";
  return isBoth && before.inlines.at(-1)?.end === block.inlines[0]?.start;
}

function layOutBlock(block: MarkdownBlock, columns: number, addresses: Addresses): StyledLine[] {
  switch (block.kind) {
    case "heading":
      return layOutHeading(
        block.level,
        buildRuns(block.inlines, addresses, LOOK.bold | LOOK.heading),
        columns,
      );
    case "paragraph":
      return wrap(buildRuns(block.inlines, addresses), columns);
    case "html":
      return layOutPlain(block.text, columns);
    case "note": {
      const runs = [
        { text: block.mark, look: LOOK.bold },
        { text: " ", look: 0 },
        ...buildRuns(block.inlines, addresses),
      ];
      return wrap(runs, columns);
    }
    case "code":
      return setOff(createBlank(4), createBlank(4), columns, (inner) =>
        wrapVerbatim(escapeResult(block.text), LOOK.code, inner),
      );
    case "quote": {
      const bar = { text: "│ ", look: LOOK.faint };
      return setOff(bar, bar, columns, (inner) => layOutBlocks(block.blocks, inner, addresses));
    }
    case "list":
      return listLines(block, columns, addresses);
    case "table":
      return layOutTable(block, columns, addresses);
    case "rule":
      return [buildLine({ text: "─".repeat(columns), look: LOOK.faint })];
    case "definition":
      return [];
  }
}

/** Lays out text line by line, as received. */
export function layOutPlain(text: string, columns: number): StyledLine[] {
  return wrapVerbatim(escapeResult(text.replace(/\r\n?/g, "\n").replace(/\n+$/, "")), 0, columns);
}

function layOutHeading(level: number, runs: Run[], columns: number): StyledLine[] {
  const underline = UNDERLINES[level - 1];
  if (underline === undefined) {
    const hashes = { text: `${"#".repeat(level)} `, look: LOOK.faint };
    return setOff(hashes, createBlank(level + 1), columns, (inner) => wrap(runs, inner));
  }
  const lines = wrap(runs, columns);
  const width = lines.reduce((widest, line) => Math.max(widest, line.columns), 0);
  return [...lines, buildLine({ text: underline.repeat(width), look: LOOK.faint })];
}

function listLines({ start, loose, items }: ListBlock, columns: number, addresses: Addresses): StyledLine[] {
  const markers = items.map(({ checked }, index) => {
    const mark = start === undefined ? "•" : `${start + index}.`;
    return checked === undefined ? mark : `${start === undefined ? "" : `${mark} `}[${checked ? "x" : " "}]`;
  });
  const width = markers.reduce((widest, marker) => Math.max(widest, measureColumns(marker)), 0);
  return items.flatMap(({ blocks }, index) => {
    const marker = { text: `${(markers[index] ?? "").padStart(width)} `, look: LOOK.faint };
    const lines = setOff(marker, createBlank(width + 1), columns, (inner) =>
      layOutBlocks(blocks, inner, addresses, !loose),
    );
    return loose && index > 0 ? [buildLine(), ...lines] : lines;
  });
}

/** Prefixes the first line with `first` and the others with `rest`, unless that leaves too few columns. */
function setOff(
  first: Run,
  rest: Run,
  columns: number,
  lay: (columns: number) => StyledLine[],
): StyledLine[] {
  const inner = columns - measureColumns(rest.text);
  if (inner < MIN_COLUMNS) return lay(columns);
  const lines = lay(inner);
  return prefixLines(lines.length > 0 ? lines : [buildLine()], first, rest);
}

function createBlank(columns: number): Run {
  return { text: " ".repeat(columns), look: 0 };
}

/** The addresses of a document's links, numbered from 1 in order of first use. */
export class Addresses {
  readonly #numbers = new Map<string, number>();

  numberOf(address: string): number {
    const number = this.#numbers.get(address) ?? this.#numbers.size + 1;
    this.#numbers.set(address, number);
    return number;
  }

  list(): string[] {
    return [...this.#numbers.keys()];
  }
}

const LOOK_OF = { strong: LOOK.bold, emphasis: LOOK.italic, deleted: LOOK.deleted } as const;

/** Converts inlines to runs. Adds to a link the number of the address, or the address itself if it must not be opened. */
export function buildRuns(inlines: readonly Inline[], addresses: Addresses, look = 0, href?: string): Run[] {
  return inlines.flatMap((inline, i): Run | Run[] => {
    switch (inline.kind) {
      case "text":
      case "tag":
        return { text: joinLines(inline.text), look, href };
      case "note":
        // Separate two adjacent footnote numbers, which would look like one.
        return {
          text: `${inlines[i - 1]?.kind === "note" ? "\u00a0" : ""}${joinLines(inline.text)}`,
          look,
          href,
        };
      case "code":
        return { text: joinLines(inline.text), look: look | LOOK.code, href };
      case "raised":
      case "lowered": {
        const runs = buildRuns(inline.inlines, addresses, look, href);
        return runs.map((run) => ({ ...run, text: shiftText(run.text, inline.kind) }));
      }
      case "strong":
      case "emphasis":
      case "deleted":
        return buildRuns(inline.inlines, addresses, look | LOOK_OF[inline.kind], href);
      case "element": {
        const [opening, closing] = [inline.opening, inline.closing].map((tag) => ({
          text: joinLines(tag),
          look,
          href,
        }));
        return [opening as Run, ...buildRuns(inline.inlines, addresses, look, href), closing as Run];
      }
      case "break":
        return { text: "\n", look: 0 };
      default:
        return buildLinkRuns(inline.address, inline.inlines, addresses, look);
    }
  });
}

function buildLinkRuns(address: string, inlines: Inline[], addresses: Addresses, look: number): Run[] {
  const target = normalizeAddress(address);
  if (target === undefined) {
    const text = buildRuns(inlines, addresses, look);
    const shown = joinLines(address);
    return shown === "" || joinRuns(text) === shown ? text : [...text, { text: ` (${shown})`, look }];
  }
  const text = buildRuns(inlines, addresses, look | LOOK.link, target);
  const shown = joinRuns(text);
  if (shown === target || shown === address || `mailto:${shown}` === address) return text;
  const number = addresses.numberOf(target);
  if (shown === `[${number}]`) return text;
  const run = { text: `[${number}]`, look: look | LOOK.faint, href: target };
  return shown === `${number}` ? [run] : [...text, { ...run, text: `\u00a0${run.text}` }];
}

function joinRuns(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join("");
}

/** Replaces line breaks inside a paragraph with blanks. */
function joinLines(text: string): string {
  return escapeResult(text.replace(/[\n\r\t]+/g, " "));
}

type TableRow = Run[][];
type Align = TableBlock["align"][number];

const GAP = " │ ";

/** Lays out a table with wrapped cells; as a list of entries if the columns do not fit side by side without splitting words. */
export function layOutTable(
  { align, head, rows }: TableBlock,
  columns: number,
  addresses: Addresses,
): StyledLine[] {
  const header = head.map((cell) => buildRuns(cell, addresses, LOOK.bold));
  const body = rows.map((row) => row.map((cell) => buildRuns(cell, addresses)));
  const widths = chooseWidths([header, ...body], columns - GAP.length * (header.length - 1));
  return widths ? layOutGrid(header, body, widths, align) : layOutEntries(header, body, columns);
}

/** Chooses the widths of columns; undefined if a word would have to be split. */
function chooseWidths(rows: readonly TableRow[], available: number): number[] | undefined {
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
  // Shrink the widest columns first.
  const capAt = (cap: number) => best.map((width, i) => Math.max(least[i] ?? 1, Math.min(width, cap)));
  let cap = 1;
  while (cap < available && sum(capAt(cap + 1)) <= available) cap++;
  return capAt(cap);
}

function layOutGrid(
  header: TableRow,
  body: readonly TableRow[],
  widths: number[],
  align: readonly Align[],
): StyledLine[] {
  const rule = buildLine({ text: widths.map((width) => "─".repeat(width)).join("─┼─"), look: LOOK.faint });
  const rows = body.map((row) => layOutRow(row, widths, align));
  const parted = rows.some((lines) => lines.length > 1);
  return [
    ...layOutRow(header, widths, align),
    rule,
    ...rows.flatMap((lines, index) => (parted && index > 0 ? [rule, ...lines] : lines)),
  ];
}

function layOutRow(row: TableRow, widths: readonly number[], align: readonly Align[]): StyledLine[] {
  const cells = widths.map((width, index) => wrap(row[index] ?? [], width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) => {
    const runs = cells.flatMap((lines, x) => {
      const cell = padCell(lines[y] ?? buildLine(), widths[x] ?? 0, align[x] ?? null);
      return x === 0 ? cell : [{ text: GAP, look: LOOK.faint }, ...cell];
    });
    return buildLine(...runs);
  });
}

function padCell({ runs, columns }: StyledLine, width: number, align: Align): Run[] {
  const space = Math.max(0, width - columns);
  const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
  return [createBlank(before), ...runs, createBlank(space - before)];
}

/** Lays out each row as lines `title: cell`, with an empty line between rows. */
function layOutEntries(header: TableRow, body: readonly TableRow[], columns: number): StyledLine[] {
  const rows = body.length > 0 ? body : [header.map(() => [])];
  return rows.flatMap((row, index) => {
    const lines = row.flatMap((cell, x) => {
      const name = header[x] ?? [];
      const runs = name.length > 0 ? [...name, { text: ": ", look: LOOK.bold }, ...cell] : cell;
      const [first = buildLine(), ...rest] = wrap(runs, columns - 2);
      return [first, ...prefixLines(rest, createBlank(2), createBlank(2))];
    });
    return index === 0 ? lines : [buildLine(), ...lines];
  });
}
