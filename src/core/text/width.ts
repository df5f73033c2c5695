import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\x20-\x7e]*$/;
/** Combining marks, joiners, and the vowels and finals that complete a Hangul syllable take no column. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** Makes the character before it an emoji, which is two columns wide. */
const EMOJI_PRESENTATION = "\ufe0f";

/** Columns of printable text. Of joined emoji the parts are counted: no terminal needs more. */
export function measureColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += measureChar(char);
  return columns;
}

/** How many UTF-16 units from the start of `text` fit into `columns`: whole characters with their marks, at least one. */
export function countFittingUnits(text: string, columns: number): number {
  let units = 0;
  let used = 0;
  for (const char of text) {
    used += measureChar(char);
    if (used > columns && units > 0 && !ZERO_WIDTH.test(char)) return units;
    units += char.length;
  }
  return units;
}

function measureChar(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (char === EMOJI_PRESENTATION) return 1;
  return ZERO_WIDTH.test(char) ? 0 : eastAsianWidth(code);
}

/** A word with the blanks before it. A command at the end or between backticks is one, too: it is copied whole. */
const WORDS = /\s*(?:(?<=[:,] |^ *)(?:research|export) .*|[^\s`]*`[^`]*`\S*|\S+)/g;
/** The share of a line that a term may take, so that room is left beside it. */
const TERM_SHARE = 0.6;
const COLOURS = /\u001b\[[0-9;]*m/g;
/** A colour, which is captured, or text without one. */
export const COLOUR_OR_TEXT = /(\u001b\[[0-9;]*m)|[^\u001b]+/g;

/** Text parted at words. What goes on is `hang` columns in, or as far as its line or term. Tabs make a line data. */
export function fold(text: string, columns: number, hang = 0): string {
  return text.replace(/^.*$/gm, (line) => {
    if (measureWidth(line) <= columns || line.includes("\t")) return line;
    const start = line.replace(COLOURS, "").slice(0, TERM_SHARE * columns + 1);
    const [term = ""] = /^\s*(?:\S.*\s{2,}(?=\S))?/.exec(start) ?? [];
    const indent = " ".repeat(
      measureColumns(term) + (term.trim() ? 0 : /^\s*\$ /.test(line) ? 2 : term ? 0 : hang),
    );
    const lines = [""];
    const isWhole = (word: string) => indent.length + measureWidth(word.trimStart()) <= columns;
    const words = line.match(WORDS) ?? [];
    for (let word of words.flatMap((word) => (isWhole(word) ? word : (word.match(/\s*\S+/g) ?? [])))) {
      let last = lines.pop() ?? "";
      if (measureWidth(last + word) > columns) {
        if (last.trim()) lines.push(last);
        const first = word.slice(0, word.search(/\S|$/));
        word = word.trimStart();
        // What a person copies is not parted for an indent.
        last = lines.length === 0 ? first : isWhole(word) || measureWidth(word) > columns ? indent : "";
      }
      while (measureWidth(last + word) > columns) {
        const end = countFittingUnits(word, columns - measureWidth(last));
        // The terminal is narrower than the indent.
        if (end === word.length) break;
        lines.push(last + word.slice(0, end));
        [last, word] = [indent, word.slice(end)];
      }
      lines.push(last + word);
    }
    return lines.join("\n");
  });
}

/** Columns of text in which colours take none. */
export const measureWidth = (text: string) => measureColumns(text.replace(COLOURS, ""));
