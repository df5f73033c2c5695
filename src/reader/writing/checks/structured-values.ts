import { isObject } from "../../../core/json/exact-json.js";
import { shortenText } from "../../../core/text/format-text.js";
import { detectLanguage, getVocabulary } from "../../languages/vocabulary.js";
import { findFigures } from "../../matching/numbers.js";
import { containsTokens, tokenizeText } from "../../matching/quotations.js";

/** The part of a structured result that occurs in quotes (undefined if nothing does), and a list of the rest, with paths. */
interface Founded {
  kept: unknown;
  missing: string[];
}

/**
 * Copies the part of a structured result that occurs in quotes, and lists the strings and numbers that do not. Property
 * names are checked as well, unless the schema defines them (`names`).
 */
export function keepQuotedValues(
  value: unknown,
  quotes: readonly string[],
  names: ReadonlySet<string>,
  path = "",
): Founded {
  const hasPart = (part: unknown) => quotes.some((quote) => hasQuotedValue(quote, part));
  const createGone = (shown: string): Founded => ({ kept: undefined, missing: [shown] });
  if (typeof value === "string" || typeof value === "number") {
    const where = path && ` (${path.replace(/^\./, "")})`;
    return hasPart(value) ? { kept: value, missing: [] } : createGone(shorten(value) + where);
  }
  if (typeof value !== "object" || value === null) return { kept: value, missing: [] };
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([name, part]) => {
    const inner = path + (isList ? `[${name}]` : `.${name}`);
    const isKnown = isList || names.has(name) || hasPart(name);
    return { name, ...(isKnown ? keepQuotedValues(part, quotes, names, inner) : createGone(shorten(name))) };
  });
  const kept = parts.filter((part) => part.kept !== undefined);
  return {
    kept: isList
      ? kept.map((part) => part.kept)
      : Object.fromEntries(kept.map((part) => [part.name, part.kept])),
    missing: parts.flatMap(({ missing }) => missing),
  };
}

/** Lists every property name in a schema, at any depth. */
export function listPropertyNames(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const names = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return new Set([...names, ...Object.values(schema).flatMap((part) => [...listPropertyNames(part)])]);
}

/**
 * Returns whether a string or number of a structured result occurs in a quote. Text without a word, such as `/`, must occur
 * character for character.
 */
export function hasQuotedValue(quote: string, value: unknown): boolean {
  if (typeof value === "number") return readNumbers(quote).includes(value);
  if (typeof value !== "string")
    return Object.values(value ?? {}).some((part) => hasQuotedValue(quote, part));
  if (value.trim() === "") return false;
  return tokenizeText(value).length === 0 ? quote.includes(value) : containsTokens(quote, value);
}

/** Lists the numbers in a text, including the parts of dates. */
function readNumbers(text: string): (number | undefined)[] {
  return findFigures(text, getVocabulary(detectLanguage(text))).flatMap((figure) => {
    if (figure.kind === "date") return figure.readings.flatMap(({ year, month, day }) => [year, month, day]);
    return figure.kind === "number" ? figure.readings.map(({ value }) => value) : [];
  });
}

function shorten(value: string | number): string {
  return shortenText(JSON.stringify(value), 80);
}
