import { escapeResult } from "../../text/safe-text.js";
import { measureColumns } from "../../text/text-width.js";
import {
  type Inline,
  type ListBlock,
  type MarkdownBlock,
  normalizeLink,
  type TableBlock,
} from "../document-types.js";
import { raiseOrLowerText } from "../inlines.js";
import {
  buildStyledLine,
  LOOK,
  measureRuns,
  prefixLines,
  type Run,
  type StyledLine,
  wrapRuns,
  wrapVerbatimText,
} from "./wrap-lines.js";

/** The least columns for nested blocks; with fewer, they are not indented. */
const MIN_COLUMNS = 16;
const UNDERLINES = ["═", "─"];

/** Lays out blocks in lines of at most `columns`, with an empty line between blocks unless `tight`. */
export function layOutBlocks(
  blocks: readonly MarkdownBlock[],
  columns: number,
  addresses: NumberedAddresses,
  tight = false,
): StyledLine[] {
  const lines: StyledLine[] = [];
  for (const [i, block] of blocks.entries()) {
    const blockLines = layOutBlock(block, columns, addresses);
    if (lines.length > 0 && blockLines.length > 0 && !tight && !isSameParagraph(blocks[i - 1], block))
      lines.push(buildStyledLine());
    for (const line of blockLines) lines.push(line);
  }
  return lines;
}

/** Returns whether two paragraphs are lines of the same paragraph in the document, such as works that are listed line by line. */
function isSameParagraph(before: MarkdownBlock | undefined, block: MarkdownBlock): boolean {
  const isBoth = before?.kind === "paragraph" && block.kind === "paragraph";
  return isBoth && before.inlines.at(-1)?.end === block.inlines[0]?.start;
}

function layOutBlock(block: MarkdownBlock, columns: number, addresses: NumberedAddresses): StyledLine[] {
  switch (block.kind) {
    case "heading":
      return layOutHeading(
        block.level,
        buildRuns(block.inlines, addresses, LOOK.bold | LOOK.heading),
        columns,
      );
    case "paragraph":
      return wrapRuns(buildRuns(block.inlines, addresses), columns);
    case "html":
      return layOutPlainText(block.text, columns);
    case "note": {
      const runs = [
        { text: block.mark, look: LOOK.bold },
        { text: " ", look: 0 },
        ...buildRuns(block.inlines, addresses),
      ];
      return wrapRuns(runs, columns);
    }
    case "code":
      return layOutWithPrefix(createBlankRun(4), createBlankRun(4), columns, (inner) =>
        wrapVerbatimText(escapeResult(block.text), LOOK.code, inner),
      );
    case "quote": {
      const bar = { text: "│ ", look: LOOK.faint };
      return layOutWithPrefix(bar, bar, columns, (inner) => layOutBlocks(block.blocks, inner, addresses));
    }
    case "list":
      return layOutList(block, columns, addresses);
    case "table":
      return layOutTable(block, columns, addresses);
    case "rule":
      return [buildStyledLine({ text: "─".repeat(columns), look: LOOK.faint })];
    case "definition":
      return [];
  }
}

/** Lays out text line by line, as received. */
export function layOutPlainText(text: string, columns: number): StyledLine[] {
  return wrapVerbatimText(escapeResult(text.replace(/\r\n?/g, "\n").replace(/\n+$/, "")), 0, columns);
}

function layOutHeading(level: number, runs: Run[], columns: number): StyledLine[] {
  const underline = UNDERLINES[level - 1];
  if (underline === undefined) {
    const hashes = { text: `${"#".repeat(level)} `, look: LOOK.faint };
    return layOutWithPrefix(hashes, createBlankRun(level + 1), columns, (inner) => wrapRuns(runs, inner));
  }
  const lines = wrapRuns(runs, columns);
  const width = lines.reduce((widest, line) => Math.max(widest, line.columns), 0);
  return [...lines, buildStyledLine({ text: underline.repeat(width), look: LOOK.faint })];
}

function layOutList(
  { start, loose, items }: ListBlock,
  columns: number,
  addresses: NumberedAddresses,
): StyledLine[] {
  const markers = items.map(({ checked }, index) => {
    const mark = start === undefined ? "•" : `${start + index}.`;
    return checked === undefined ? mark : `${start === undefined ? "" : `${mark} `}[${checked ? "x" : " "}]`;
  });
  const width = markers.reduce((widest, marker) => Math.max(widest, measureColumns(marker)), 0);
  return items.flatMap(({ blocks }, index) => {
    const marker = { text: `${(markers[index] ?? "").padStart(width)} `, look: LOOK.faint };
    const lines = layOutWithPrefix(marker, createBlankRun(width + 1), columns, (inner) =>
      layOutBlocks(blocks, inner, addresses, !loose),
    );
    return loose && index > 0 ? [buildStyledLine(), ...lines] : lines;
  });
}

/** Prefixes the first line with `first` and the others with `rest`, unless that leaves too few columns. */
function layOutWithPrefix(
  first: Run,
  rest: Run,
  columns: number,
  lay: (columns: number) => StyledLine[],
): StyledLine[] {
  const inner = columns - measureColumns(rest.text);
  if (inner < MIN_COLUMNS) return lay(columns);
  const lines = lay(inner);
  return prefixLines(lines.length > 0 ? lines : [buildStyledLine()], first, rest);
}

function createBlankRun(columns: number): Run {
  return { text: " ".repeat(columns), look: 0 };
}

/** The addresses of a document's links, numbered from 1 in order of first use. */
export class NumberedAddresses {
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
export function buildRuns(
  inlines: readonly Inline[],
  addresses: NumberedAddresses,
  look = 0,
  href?: string,
): Run[] {
  return inlines.flatMap((inline, i): Run | Run[] => {
    switch (inline.kind) {
      case "text":
      case "tag":
        return { text: replaceLineBreaks(inline.text), look, href };
      case "note":
        // Separate two adjacent footnote numbers, which would look like one.
        return {
          text: `${inlines[i - 1]?.kind === "note" ? "\u00a0" : ""}${replaceLineBreaks(inline.text)}`,
          look,
          href,
        };
      case "code":
        return { text: replaceLineBreaks(inline.text), look: look | LOOK.code, href };
      case "raised":
      case "lowered": {
        const runs = buildRuns(inline.inlines, addresses, look, href);
        return runs.map((run) => ({ ...run, text: raiseOrLowerText(run.text, inline.kind) }));
      }
      case "strong":
      case "emphasis":
      case "deleted":
        return buildRuns(inline.inlines, addresses, look | LOOK_OF[inline.kind], href);
      case "element": {
        const [opening, closing] = [inline.opening, inline.closing].map((tag) => ({
          text: replaceLineBreaks(tag),
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

function buildLinkRuns(
  address: string,
  inlines: Inline[],
  addresses: NumberedAddresses,
  look: number,
): Run[] {
  const target = normalizeLink(address);
  if (target === undefined) {
    const text = buildRuns(inlines, addresses, look);
    const shown = replaceLineBreaks(address);
    return shown === "" || joinRunTexts(text) === shown ? text : [...text, { text: ` (${shown})`, look }];
  }
  const text = buildRuns(inlines, addresses, look | LOOK.link, target);
  const shown = joinRunTexts(text);
  if (shown === target || shown === address || `mailto:${shown}` === address) return text;
  const number = addresses.numberOf(target);
  if (shown === `[${number}]`) return text;
  const run = { text: `[${number}]`, look: look | LOOK.faint, href: target };
  return shown === `${number}` ? [run] : [...text, { ...run, text: `\u00a0${run.text}` }];
}

function joinRunTexts(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join("");
}

/** Replaces line breaks inside a paragraph with blanks. */
function replaceLineBreaks(text: string): string {
  return escapeResult(text.replace(/[\n\r\t]+/g, " "));
}

type TableRow = Run[][];
type Align = TableBlock["align"][number];

const GAP = " │ ";

/** Lays out a table with wrapped cells; as a list of entries if the columns do not fit side by side without splitting words. */
export function layOutTable(
  { align, head, rows }: TableBlock,
  columns: number,
  addresses: NumberedAddresses,
): StyledLine[] {
  const header = head.map((cell) => buildRuns(cell, addresses, LOOK.bold));
  const body = rows.map((row) => row.map((cell) => buildRuns(cell, addresses)));
  const widths = chooseColumnWidths([header, ...body], columns - GAP.length * (header.length - 1));
  return widths ? layOutTableGrid(header, body, widths, align) : layOutTableAsEntries(header, body, columns);
}

/** Chooses the widths of columns; undefined if a word would have to be split. */
function chooseColumnWidths(rows: readonly TableRow[], available: number): number[] | undefined {
  const least: number[] = [];
  const best: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      const need = measureRuns(cell);
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

function layOutTableGrid(
  header: TableRow,
  body: readonly TableRow[],
  widths: number[],
  align: readonly Align[],
): StyledLine[] {
  const rule = buildStyledLine({
    text: widths.map((width) => "─".repeat(width)).join("─┼─"),
    look: LOOK.faint,
  });
  const rows = body.map((row) => layOutTableRow(row, widths, align));
  const parted = rows.some((lines) => lines.length > 1);
  return [
    ...layOutTableRow(header, widths, align),
    rule,
    ...rows.flatMap((lines, index) => (parted && index > 0 ? [rule, ...lines] : lines)),
  ];
}

function layOutTableRow(row: TableRow, widths: readonly number[], align: readonly Align[]): StyledLine[] {
  const cells = widths.map((width, index) => wrapRuns(row[index] ?? [], width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) => {
    const runs = cells.flatMap((lines, x) => {
      const cell = padTableCell(lines[y] ?? buildStyledLine(), widths[x] ?? 0, align[x] ?? null);
      return x === 0 ? cell : [{ text: GAP, look: LOOK.faint }, ...cell];
    });
    return buildStyledLine(...runs);
  });
}

function padTableCell({ runs, columns }: StyledLine, width: number, align: Align): Run[] {
  const space = Math.max(0, width - columns);
  const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
  return [createBlankRun(before), ...runs, createBlankRun(space - before)];
}

/** Lays out each row as lines `title: cell`, with an empty line between rows. */
function layOutTableAsEntries(header: TableRow, body: readonly TableRow[], columns: number): StyledLine[] {
  const rows = body.length > 0 ? body : [header.map(() => [])];
  return rows.flatMap((row, index) => {
    const lines = row.flatMap((cell, x) => {
      const name = header[x] ?? [];
      const runs = name.length > 0 ? [...name, { text: ": ", look: LOOK.bold }, ...cell] : cell;
      const [first = buildStyledLine(), ...rest] = wrapRuns(runs, columns - 2);
      return [first, ...prefixLines(rest, createBlankRun(2), createBlankRun(2))];
    });
    return index === 0 ? lines : [buildStyledLine(), ...lines];
  });
}
