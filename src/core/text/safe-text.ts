import { indentJson, stringifyExact } from "../json/exact-json.js";

/** Matches lone surrogates, and characters that move the cursor, hide text or reverse it, except `\n` and `\t`. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;
/** Matches text without unsafe characters, the usual case: compiling UNSAFE takes longer than showing a state. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
/** U+200C and U+200D, which shape the letters of many scripts and join emoji. */
const JOINERS = /[\u200c\u200d]/;
/** Matches the start of a command to a CI runner: GitHub's at the start of a line, older ones anywhere. */
const CI_COMMAND = /(?<=^\s*):(?=:)|#(?=#\[|#vso\[)/gm;

/** Escapes text from outside, so that it cannot control a terminal or a CI runner. */
export function escapeText(text: string): string {
  return (PLAIN.test(text) ? text : text.replace(UNSAFE, escapeChar)).replace(CI_COMMAND, escapeChar);
}

/** Escapes text from outside and puts it on one line, with a space for each line break or tab. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/[\s\u0085]+/g, " ").trim());
}

/** Escapes a result for a terminal. Keeps line breaks, and the joiners that scripts and emoji need. */
export function escapeResult(text: string): string {
  // Before a line feed, a CR has no further effect on the cursor.
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSAFE, (char) => (JOINERS.test(char) ? char : escapeChar(char)));
}

/** Writes exact JSON (`stringifyExact`), on one line or indented. Escapes what could control a terminal or a CI runner. */
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
