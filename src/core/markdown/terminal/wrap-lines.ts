import { countFittingUnits, measureColumns } from "../../text/text-width.js";

/** A piece of text that is only split if it is wider than a line. */
interface Word {
  runs: Run[];
  columns: number;
  /** Whether a blank separates the word from the previous one. */
  spaced: boolean;
}

const SPACE = " \\t\\v\\f\\r\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u205f\\u3000";
const PARTS = new RegExp(`\\n|[${SPACE}]+|[^${SPACE}\\n]+`, "g");
const BLANK = new RegExp(`^[${SPACE}]`);
const IDEOGRAPHIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3001-\u303f\uff01-\uff60]/u;
/** Matches where a line of Chinese or Japanese may break: anywhere except before a closing mark and after an opening one. */
const BREAKS =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3001-\u303f\uff01-\uff60])(?<![（「『【《〈〔［｛])(?!\p{M}|\u200d|[、。，．・：；？！）」』】》〉〕］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ])|(?<![（「『【《〈〔［｛])(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}「『【《〈（])/u;

/** Wraps runs to lines of at most `columns`. Several blanks become one; `\n` in a run begins a new line. */
export function wrapRuns(runs: readonly Run[], columns: number): StyledLine[] {
  return splitRunsIntoWords(runs).flatMap((words) => fillLines(words, columns));
}

/** Measures runs in columns: `least` if no word may be split, `best` if no line may be wrapped. */
export function measureRuns(runs: readonly Run[]): { least: number; best: number } {
  let least = 0;
  let best = 0;
  for (const words of splitRunsIntoWords(runs)) {
    let line = 0;
    for (const word of words) {
      least = Math.max(least, word.columns);
      line += word.columns + (word.spaced ? 1 : 0);
    }
    best = Math.max(best, line);
  }
  return { least, best };
}

/** Wraps text such as code line by line, and keeps its blanks. */
export function wrapVerbatimText(text: string, look: number, columns: number): StyledLine[] {
  const lines: StyledLine[] = [];
  for (const source of text.split("\n")) {
    let rest = expandTabs(source);
    let end = countFittingUnits(rest, columns);
    while (end < rest.length) {
      const blank = rest.lastIndexOf(" ", end);
      const cut = blank > 0 && rest.slice(0, blank).trim() !== "" ? blank + 1 : end;
      lines.push(buildStyledLine({ text: rest.slice(0, cut).trimEnd(), look }));
      rest = rest.slice(cut);
      end = countFittingUnits(rest, columns);
    }
    lines.push(buildStyledLine({ text: rest, look }));
  }
  return lines;
}

function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let columns = 0;
  return line.replace(/[^\t]+|\t/g, (part) => {
    const shown = part === "\t" ? " ".repeat(4 - (columns % 4)) : part;
    columns += measureColumns(shown);
    return shown;
  });
}

/** Splits runs into lines, at the author's line breaks, and each line into words. */
function splitRunsIntoWords(runs: readonly Run[]): Word[][] {
  let words: Word[] = [];
  const all = [words];
  /** The word that the next text continues if no blank precedes that; undefined after a blank. */
  let open: Word | undefined;
  for (const { text, look, href } of runs) {
    for (const part of text.match(PARTS) ?? []) {
      if (part === "\n") {
        words = [];
        all.push(words);
        open = undefined;
      } else if (BLANK.test(part)) {
        open = undefined;
      } else {
        for (const [index, piece] of (IDEOGRAPHIC.test(part) ? part.split(BREAKS) : [part]).entries()) {
          const run = { text: piece, look, href };
          const columns = measureColumns(piece);
          if (open && index === 0) {
            open.runs.push(run);
            open.columns += columns;
          } else {
            open = { runs: [run], columns, spaced: index === 0 && words.length > 0 };
            words.push(open);
          }
        }
      }
    }
  }
  return all;
}

function fillLines(words: readonly Word[], columns: number): StyledLine[] {
  let line = buildStyledLine();
  const lines = [line];
  for (const word of words) {
    const blank = word.spaced && line.columns > 0 ? 1 : 0;
    if (line.columns > 0 && line.columns + blank + word.columns > columns) {
      line = buildStyledLine();
      lines.push(line);
    } else if (blank > 0) {
      appendRun(line, createBlankBetween(line.runs.at(-1), word.runs[0]), 1);
    }
    if (word.columns <= columns) {
      for (const run of word.runs) appendRun(line, run, 0);
      line.columns += word.columns;
    } else {
      line = breakLongWord(word, columns, line, lines);
    }
  }
  return lines;
}

/** Splits a word that is wider than a line into several lines. Returns the last one. */
function breakLongWord({ runs }: Word, columns: number, first: StyledLine, lines: StyledLine[]): StyledLine {
  let line = first;
  for (const { text, ...rest } of runs) {
    for (let left = text; left !== ""; ) {
      const fitting = left.slice(0, countFittingUnits(left, columns - line.columns));
      const width = measureColumns(fitting);
      if (line.columns > 0 && line.columns + width > columns) {
        line = buildStyledLine();
        lines.push(line);
        continue;
      }
      appendRun(line, { text: fitting, ...rest }, width);
      left = left.slice(fitting.length);
    }
  }
  return line;
}

function appendRun(line: StyledLine, run: Run, columns: number): void {
  const last = line.runs.at(-1);
  line.columns += columns;
  // The run was created for this line, so it may be changed.
  if (last && last.look === run.look && last.href === run.href) last.text += run.text;
  else line.runs.push(run);
}

/** Returns a blank; if it is inside a link or code, with the same style. */
function createBlankBetween(before: Run | undefined, after: Run | undefined): Run {
  const same = before && after && before.look === after.look && before.href === after.href;
  return { text: " ", look: same ? before.look : 0, href: same ? before.href : undefined };
}

/** The styles of a run, which can be added. */
export const LOOK = { bold: 1, italic: 2, deleted: 4, code: 8, faint: 16, heading: 32, link: 64 } as const;

/** Text in one style, which is safe to show and has no line breaks. */
export interface Run {
  text: string;
  /** A sum of LOOK values. */
  look: number;
  /** The target of a hyperlink. */
  href?: string | undefined;
}

export interface StyledLine {
  runs: Run[];
  /** The width in columns of the terminal. */
  columns: number;
}

export function buildStyledLine(...runs: Run[]): StyledLine {
  return { runs, columns: runs.reduce((sum, { text }) => sum + measureColumns(text), 0) };
}

/** Puts `first` before the first line and `rest` before the others. */
export function prefixLines(lines: readonly StyledLine[], first: Run, rest: Run): StyledLine[] {
  const widths = [first, rest].map(({ text }) => measureColumns(text));
  return lines.map(({ runs, columns }, index) => ({
    runs: [index === 0 ? first : rest, ...runs],
    columns: columns + (widths[Math.min(index, 1)] ?? 0),
  }));
}

const ESC = "\u001b";
/** The codes that switch each style on and off (ECMA-48 §8.3.117). */
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
  /** Whether styles are shown. */
  colour: boolean;
  /** Whether the terminal supports hyperlinks. */
  hyperlinks: boolean;
}

function styleText(text: string, look: number): string {
  const codes = CODES.filter(([bit]) => look & bit);
  if (codes.length === 0) return text;
  const off = new Set(codes.map(([, , code]) => code));
  return `${ESC}[${codes.map(([, code]) => code).join(";")}m${text}${ESC}[${[...off].join(";")}m`;
}

/** Returns a line with escape codes for the terminal, without trailing blanks and line break. */
export function renderLine({ runs }: StyledLine, { colour, hyperlinks }: TerminalCapabilities): string {
  let end = runs.length;
  while (end > 0 && runs[end - 1]?.text.trimEnd() === "") end--;
  let line = "";
  for (let at = 0; at < end; at++) {
    const { text, look, href } = runs[at] as Run;
    const blanks = text.replaceAll("\u00a0", " ");
    const shown = at === end - 1 ? blanks.trimEnd() : blanks;
    const looking = styleText(shown, colour ? look : 0);
    line += hyperlinks && href ? renderHyperlink(href, looking) : looking;
  }
  return line;
}

/** Renders a hyperlink (OSC 8). Longer addresses are left out, because terminals accept only 2,083 characters. */
function renderHyperlink(href: string, text: string): string {
  if (href.length > 2_083) return text;
  return `${ESC}]8;;${href}${ESC}\\${text}${ESC}]8;;${ESC}\\`;
}
