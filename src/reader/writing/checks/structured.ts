import { isObject } from "../../../core/json/exact-json.js";
import { shortText } from "../../../core/text/phrases.js";
import { languageOf, vocabularyOf } from "../../languages/languages.js";
import { findFigures } from "../../matching/numbers.js";
import { standsIn, tokensOf } from "../../matching/tokens.js";

/** What of a structured result stands in quotes (undefined for nothing), and what does not, each with its path. */
interface Founded {
  kept: unknown;
  missing: string[];
}

/**
 * Parts a structured result into what stands in quotes, a copy, and every string and number that stands in none. A name that
 * the schema does not give is data as well. `names` are those it gives.
 */
export function founded(
  value: unknown,
  quotes: readonly string[],
  names: ReadonlySet<string>,
  path = "",
): Founded {
  const stands = (part: unknown) => quotes.some((quote) => holds(quote, part));
  const gone = (shown: string): Founded => ({ kept: undefined, missing: [shown] });
  if (typeof value === "string" || typeof value === "number") {
    const where = path && ` (${path.replace(/^\./, "")})`;
    return stands(value) ? { kept: value, missing: [] } : gone(shorten(value) + where);
  }
  if (typeof value !== "object" || value === null) return { kept: value, missing: [] };
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([name, part]) => {
    const inner = path + (isList ? `[${name}]` : `.${name}`);
    const isKnown = isList || names.has(name) || stands(name);
    return { name, ...(isKnown ? founded(part, quotes, names, inner) : gone(shorten(name))) };
  });
  const kept = parts.filter((one) => one.kept !== undefined);
  return {
    kept: isList ? kept.map((one) => one.kept) : Object.fromEntries(kept.map((one) => [one.name, one.kept])),
    missing: parts.flatMap(({ missing }) => missing),
  };
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
  return findFigures(text, vocabularyOf(languageOf(text))).flatMap((figure) => {
    if (figure.kind === "date") return figure.readings.flatMap(({ year, month, day }) => [year, month, day]);
    return figure.kind === "number" ? figure.readings.map(({ value }) => value) : [];
  });
}

function shorten(value: string | number): string {
  return shortText(JSON.stringify(value), 80);
}
