import { indentJson, stringifyExact } from "../json/exact-json.js";

/** Characters that move a cursor, hide text or turn it around, and halves of characters. `\n` and `\t` stay. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;
/** Text with nothing of that in it, as most is: to compile the other pattern takes longer than to show a state. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
/** U+200C and U+200D shape the letters of many scripts and join emoji. */
const JOINERS = /[\u200c\u200d]/;
/** What a CI runner takes for a command: GitHub's where a line begins with it, the older ones wherever it stands. */
const CI_COMMAND = /(?<=^\s*):(?=:)|#(?=#\[|#vso\[)/gm;

/** Text from outside, made safe to show: nothing in it acts on a terminal or commands a CI runner. */
export function escapeText(text: string): string {
  return (PLAIN.test(text) ? text : text.replace(UNSAFE, escapeChar)).replace(CI_COMMAND, escapeChar);
}

/** The same on one line: line breaks and tabs are spaces. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/[\s\u0085]+/g, " ").trim());
}

/** A result on a terminal: escaped, but for what makes up text. Lines are the author's own. */
export function escapeResult(text: string): string {
  // A CR before a line feed moves no cursor that the line feed does not move.
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSAFE, (char) => (JOINERS.test(char) ? char : escapeChar(char)));
}

/** Exact JSON (`stringifyExact`), on one line or indented, in which what could act on a terminal or runner is an escape. */
export function stringifySafe(value: unknown, indent?: number): string {
  const line = stringifyExact(value);
  const text = indent === undefined ? line : indentJson(line, indent);
  return text.replace(UNSAFE, escapeJsonChar).replace(CI_COMMAND, escapeJsonChar);
}

function escapeJsonChar(char: string): string {
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

function escapeChar(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
