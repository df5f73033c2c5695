import { columnsOf } from "../../text/width.js";

/** How a run looks; they add up. */
export const LOOK = { bold: 1, italic: 2, deleted: 4, code: 8, faint: 16, heading: 32, link: 64 } as const;

/** Text in one look: safe to show, without line breaks. */
export interface Run {
  text: string;
  /** A sum of LOOK. */
  look: number;
  /** Where a click leads. */
  href?: string | undefined;
}

export interface StyledLine {
  runs: Run[];
  /** In columns of the terminal. */
  columns: number;
}

export function lineOf(...runs: Run[]): StyledLine {
  return { runs, columns: runs.reduce((sum, { text }) => sum + columnsOf(text), 0) };
}

/** Puts `first` before the first line and `rest` before the others. */
export function prefixed(lines: readonly StyledLine[], first: Run, rest: Run): StyledLine[] {
  const firstColumns = columnsOf(first.text);
  const restColumns = columnsOf(rest.text);
  return lines.map(({ runs, columns }, index) =>
    index === 0
      ? { runs: [first, ...runs], columns: columns + firstColumns }
      : { runs: [rest, ...runs], columns: columns + restColumns },
  );
}

const ESC = "\u001b";
/** The codes that switch each look on and off, ECMA-48 §8.3.117. */
const CODES: readonly (readonly [look: number, on: string, off: string])[] = [
  [LOOK.bold, "1", "22"],
  [LOOK.faint, "2", "22"],
  [LOOK.italic, "3", "23"],
  [LOOK.link, "4", "24"],
  [LOOK.deleted, "9", "29"],
  [LOOK.code, "36", "39"],
  [LOOK.heading, "35", "39"],
];

export interface TerminalCapabilities {
  /** Whether looks are shown at all. */
  colour: boolean;
  /** Whether the terminal is known to take hyperlinks. */
  hyperlinks: boolean;
}

/** The line as the terminal gets it, without blanks at its end and without a line break. */
export function show({ runs }: StyledLine, { colour, hyperlinks }: TerminalCapabilities): string {
  let end = runs.length;
  while (end > 0 && runs[end - 1]?.text.trimEnd() === "") end--;
  return runs
    .slice(0, end)
    .map(({ text, look, href }, index) => {
      const blanks = text.replaceAll("\u00a0", " ");
      const shown = index === end - 1 ? blanks.trimEnd() : blanks;
      const codes = colour ? CODES.filter(([bit]) => look & bit) : [];
      const on = codes.length > 0 ? `${ESC}[${codes.map(([, code]) => code).join(";")}m` : "";
      const off =
        codes.length > 0 ? `${ESC}[${[...new Set(codes.map(([, , code]) => code))].join(";")}m` : "";
      const styled = `${on}${shown}${off}`;
      return hyperlinks && href ? hyperlink(href, styled) : styled;
    })
    .join("");
}

/** OSC 8. Terminals take addresses of up to 2,083 characters. */
function hyperlink(href: string, text: string): string {
  if (href.length > 2_083) return text;
  return `${ESC}]8;;${href}${ESC}\\${text}${ESC}]8;;${ESC}\\`;
}
