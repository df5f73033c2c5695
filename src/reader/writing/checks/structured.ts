import { isObject } from "../../../ground/json/exact-json.js";
import { shortText } from "../../../ground/text/phrases.js";
import { saidIn } from "../../matching/quantities.js";
import { standsIn, tokensOf } from "../../matching/tokens.js";

/** The names and indexes that lead to a part of a value. */
type Path = readonly (string | number)[];

/** A string, number or name of a structured result that stands in no quote. */
export interface Unfounded {
  /** With its path, for a sentence. */
  shown: string;
  path: Path;
}

/**
 * Every string and number of a structured result that stands in no quote. A name that the schema does not give is data
 * as well. `names` are those it gives.
 */
export function unfounded(
  value: unknown,
  quotes: readonly string[],
  names: ReadonlySet<string>,
  path: Path = [],
): Unfounded[] {
  if (typeof value === "string" || typeof value === "number") {
    const where = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    const shown = `${shorten(value)}${where === "" ? "" : ` (${where.replace(/^\./, "")})`}`;
    return quotes.some((quote) => holds(quote, value)) ? [] : [{ shown, path }];
  }
  if (Array.isArray(value)) return value.flatMap((part, i) => unfounded(part, quotes, names, [...path, i]));
  return Object.entries(value ?? {}).flatMap(([name, part]) => {
    const inner = [...path, name];
    if (!names.has(name) && !quotes.some((quote) => holds(quote, name)))
      return [{ shown: shorten(name), path: inner }];
    return unfounded(part, quotes, names, inner);
  });
}

/** `value` without the places of `missing`: a copy. */
export function without(value: unknown, missing: readonly Unfounded[], path: Path = []): unknown {
  const isGone = (name: string | number) => missing.some((one) => `${one.path}` === `${[...path, name]}`);
  if (Array.isArray(value))
    return value.flatMap((part, i) => (isGone(i) ? [] : [without(part, missing, [...path, i])]));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !isGone(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, without(part, missing, [...path, name])]));
}

/** Every name of a property that a schema gives, at any depth. */
export function propertyNamesIn(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const own = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return new Set([...own, ...Object.values(schema).flatMap((part) => [...propertyNamesIn(part)])]);
}

/**
 * Whether any string or number of a structured result stands in a quote. Text without a word, as `/`, has to stand there
 * character for character.
 */
export function holds(quote: string, value: unknown): boolean {
  if (typeof value === "number") return numbersIn(quote).includes(value);
  if (typeof value !== "string") return Object.values(value ?? {}).some((part) => holds(quote, part));
  if (value.trim() === "") return false;
  return tokensOf(value).length === 0 ? quote.includes(value) : standsIn(quote, value);
}

/** Parts of a date are numbers as well. A number with more digits than JSON keeps is left out. */
function numbersIn(text: string): (number | undefined)[] {
  return saidIn(text).flatMap((said) => {
    if (said.kind === "date") return said.readings.flatMap(({ year, month, day }) => [year, month, day]);
    return said.kind === "number" ? said.values : [];
  });
}

function shorten(value: string | number): string {
  return shortText(JSON.stringify(value), 80);
}
