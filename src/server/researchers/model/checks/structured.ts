import { isObject } from "../../../../json/is-object.js";
import { hasNumber } from "./numbers.js";
import { standsIn, tokensOf } from "./tokens.js";

/** A string, number or name of a structured result that stands in no quote. */
export interface Unfounded {
  /** With its path, for a sentence. */
  shown: string;
  /** The names and indexes that lead to it. */
  path: readonly (string | number)[];
}

/**
 * Every string and number of a structured result that stands in no quote. A name that the schema does not give is data
 * as well. `names` are those it gives.
 */
export function unfounded(
  value: unknown,
  quotes: readonly string[],
  names: ReadonlySet<string>,
  path: Unfounded["path"] = [],
): Unfounded[] {
  if (typeof value === "string") return hasText(value, quotes) ? [] : [named(value, path)];
  if (typeof value === "number")
    return quotes.some((quote) => hasNumber(quote, value)) ? [] : [named(value, path)];
  if (Array.isArray(value)) return value.flatMap((part, i) => unfounded(part, quotes, names, [...path, i]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const inner = [...path, name];
    if (!names.has(name) && !hasText(name, quotes)) return [{ shown: shorten(name), path: inner }];
    return unfounded(part, quotes, names, inner);
  });
}

/** `value` without the places of `missing`: a copy. */
export function without(
  value: unknown,
  missing: readonly Unfounded[],
  path: Unfounded["path"] = [],
): unknown {
  const isGone = (name: string | number) => missing.some((one) => `${one.path}` === `${[...path, name]}`);
  if (Array.isArray(value))
    return value.flatMap((part, i) => (isGone(i) ? [] : [without(part, missing, [...path, i])]));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !isGone(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, without(part, missing, [...path, name])]));
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

function named(value: string | number, path: Unfounded["path"]): Unfounded {
  const where = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return { shown: `${shorten(value)}${where === "" ? "" : ` (${where.replace(/^\./, "")})`}`, path };
}

function shorten(value: string | number): string {
  const shown = JSON.stringify(value);
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}
