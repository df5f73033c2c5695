import { isObject } from "../json.js";
import { hasNumber } from "./numbers.js";
import { standsIn, tokensOf } from "./tokens.js";

/**
 * The first string or number of a structured result that stands in no quote, with its path, as one phrase;
 * undefined if all stand. A name that the schema does not give is data as well. `names` are those it gives.
 */
export function unfounded(
  value: unknown,
  quotes: readonly string[],
  names: ReadonlySet<string>,
  path = "",
): string | undefined {
  if (typeof value === "string") return hasText(value, quotes) ? undefined : phrase(value, path);
  if (typeof value === "number")
    return quotes.some((quote) => hasNumber(quote, value)) ? undefined : phrase(value, path);
  if (Array.isArray(value))
    return firstOf(value, (part, i) => unfounded(part, quotes, names, `${path}[${i}]`));
  if (!isObject(value)) return undefined;
  return firstOf(Object.entries(value), ([name, part]) => {
    if (!names.has(name) && !hasText(name, quotes)) return phrase(name, path);
    return unfounded(part, quotes, names, path === "" ? name : `${path}.${name}`);
  });
}

/** Which of the quotes, by their indexes, hold a string or number of a structured result. */
export function groundsOf(value: unknown, quotes: readonly string[]): number[] {
  if (Array.isArray(value) || isObject(value))
    return [...new Set(Object.values(value).flatMap((part) => groundsOf(part, quotes)))].sort(
      (a, b) => a - b,
    );
  return [...quotes.keys()].filter((index) => {
    const quote = quotes[index] ?? "";
    return typeof value === "string"
      ? hasText(value, [quote])
      : typeof value === "number" && hasNumber(quote, value);
  });
}

/** Every name of a property that a schema gives, at any depth. */
export function namesIn(schema: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const part of schema) namesIn(part, found);
  if (!isObject(schema)) return found;
  if (isObject(schema.properties)) for (const name of Object.keys(schema.properties)) found.add(name);
  for (const part of Object.values(schema)) namesIn(part, found);
  return found;
}

/** Text without a word, as `/`, has to stand there character for character. */
function hasText(text: string, quotes: readonly string[]): boolean {
  if (text.trim() === "") return false;
  const isWordless = tokensOf(text).length === 0;
  return quotes.some((quote) => (isWordless ? quote.includes(text) : standsIn(quote, text)));
}

function phrase(value: string | number, path: string): string {
  const shown = JSON.stringify(value);
  return `${shown.length > 80 ? `${shown.slice(0, 79)}…` : shown}${path === "" ? "" : ` (${path})`}`;
}

function firstOf<T>(
  items: readonly T[],
  look: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = look(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
