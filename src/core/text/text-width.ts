import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\x20-\x7e]*$/;
/** Matches characters of width 0: combining marks, joiners, and the vowels and finals of a Hangul syllable. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** The variation selector that makes the preceding character an emoji, which is two columns wide. */
const EMOJI_PRESENTATION = "\ufe0f";

/** Returns the width of printable text in columns. Counts each part of a joined emoji, the most that a terminal uses. */
export function measureColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += measureCharColumns(char);
  return columns;
}

/** Returns how many UTF-16 units at the start of `text` fit into `columns`: whole characters with their marks, at least one. */
export function countFittingUnits(text: string, columns: number): number {
  let units = 0;
  let usedColumns = 0;
  for (const char of text) {
    usedColumns += measureCharColumns(char);
    if (usedColumns > columns && units > 0 && !ZERO_WIDTH.test(char)) return units;
    units += char.length;
  }
  return units;
}

function measureCharColumns(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (char === EMOJI_PRESENTATION) return 1;
  return ZERO_WIDTH.test(char) ? 0 : eastAsianWidth(code);
}

/** Matches a word and the blanks before it. A command at the end or in backticks is one word, so that people can copy it whole. */
const WORDS = /\s*(?:(?<=[:,] |^ *)(?:research|export) .*|[^\s`]*`[^`]*`\S*|\S+)/g;
/** The largest share of the line for a term, so that the explanation still fits beside it. */
const TERM_SHARE = 0.6;
const COLOURS = /\u001b\[[0-9;]*m/g;
/** Matches a colour, captured in group 1, or text without colours. */
export const COLOUR_OR_TEXT = /(\u001b\[[0-9;]*m)|[^\u001b]+/g;

/**
 * Wraps text at words. Indents continuation lines by `hang` columns, or like their line or to their term's end. Leaves
 * lines with tabs unchanged, because they are data.
 */
export function wrapAtWords(text: string, columns: number, hang = 0): string {
  return text.replace(/^.*$/gm, (line) => {
    if (measureColouredText(line) <= columns || line.includes("\t")) return line;
    const start = line.replace(COLOURS, "").slice(0, TERM_SHARE * columns + 1);
    const [term = ""] = /^\s*(?:\S.*\s{2,}(?=\S))?/.exec(start) ?? [];
    const indent = " ".repeat(
      measureColumns(term) + (term.trim() ? 0 : /^\s*\$ /.test(line) ? 2 : term ? 0 : hang),
    );
    const lines = [""];
    const isWhole = (word: string) => indent.length + measureColouredText(word.trimStart()) <= columns;
    const words = line.match(WORDS) ?? [];
    for (let word of words.flatMap((word) => (isWhole(word) ? word : (word.match(/\s*\S+/g) ?? [])))) {
      let lastLine = lines.pop() ?? "";
      if (measureColouredText(lastLine + word) > columns) {
        if (lastLine.trim()) lines.push(lastLine);
        const blanks = word.slice(0, word.search(/\S|$/));
        word = word.trimStart();
        // Do not split a command to keep the indent: people copy it.
        lastLine =
          lines.length === 0 ? blanks : isWhole(word) || measureColouredText(word) > columns ? indent : "";
      }
      while (measureColouredText(lastLine + word) > columns) {
        const end = countFittingUnits(word, columns - measureColouredText(lastLine));
        // The terminal is narrower than the indent, so let the line overflow.
        if (end === word.length) break;
        lines.push(lastLine + word.slice(0, end));
        [lastLine, word] = [indent, word.slice(end)];
      }
      lines.push(lastLine + word);
    }
    return lines.join("\n");
  });
}

/** Returns the width of text in columns, without its colours. */
export const measureColouredText = (text: string) => measureColumns(text.replace(COLOURS, ""));
