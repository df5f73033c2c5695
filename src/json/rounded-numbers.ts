import { exactJson } from "./exact-json.js";
import { forEachToken } from "./tokens.js";

/** The numbers of a value's exact JSON that JavaScript cannot hold: equal values may differ in these. */
export function roundedNumbers(value: unknown): string[] {
  const text = exactJson(value);
  const found: string[] = [];
  forEachToken(text, (start, end) => {
    const token = text.slice(start, end);
    if (/^[-\d]/.test(token) && digits(token) !== digits(String(Number(token)))) found.push(token);
  });
  return found.sort();
}

/** The significant digits of a number; a word as it is. */
function digits(number: string): string {
  return number
    .replace(/e.*$/i, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|0+$/g, "");
}
