import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\x20-\x7e]*$/;
/** Combining marks, joiners, and the vowels and finals that complete a Hangul syllable take no column. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** Makes the character before it an emoji, which is two columns wide. */
const EMOJI_PRESENTATION = "\ufe0f";

/**
 * Columns that printable text takes on a terminal. Terminals disagree about joined emoji: most add up their parts,
 * some draw one picture. This counts the parts, so that no terminal needs more columns than are counted.
 */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += columnsOfChar(char);
  return columns;
}

/** How many UTF-16 units from the start of `text` fit into `columns`: whole characters with their marks, at least one. */
export function unitsThatFit(text: string, columns: number): number {
  let units = 0;
  let used = 0;
  for (const char of text) {
    used += columnsOfChar(char);
    if (used > columns && units > 0 && !ZERO_WIDTH.test(char)) return units;
    units += char.length;
  }
  return units;
}

function columnsOfChar(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (char === EMOJI_PRESENTATION) return 1;
  return ZERO_WIDTH.test(char) ? 0 : eastAsianWidth(code);
}
