import type { JsonSchema } from "../../../protocol/conversation.js";
import type { View } from "./schema/schema-view.js";

/** A number that stands for itself: not part of a name, a version, a date, a section, a footnote or a list's mark. */
const NUMBER =
  /(?<![\p{L}\p{N}_§#./:[-])(?:(?<=^|\s)-)?\d+(?:[,_]\d{3})*(?:\.\d+)?(?![\p{N}_\]]|[.:/-]\p{N}|\.\p{L})/gu;
/** What a number after these words counts is a place, not an amount. */
const PLACE =
  /(?:tables?|sections?|chapters?|versions?|figures?|notes?|steps?|appendix|pages?|rfc|bugs?|issues?|iso|v\.?|no\.)[\s#]*$/i;
const NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const NUMBER_WORD = new RegExp(
  `(?<![\\p{L}\\p{N}_-])(?:${NUMBER_WORDS.join("|")})(?![\\p{L}\\p{N}_-])`,
  "giu",
);
const ISO_DATE = /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/;
const ISO_TIME = /(?<!\d)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/;
const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const DAY_FIRST = new RegExp(`(?<!\\d)(\\d{1,2})\\.? (${MONTHS.join("|")}),? (\\d{4})(?!\\d)`, "i");
const MONTH_FIRST = new RegExp(`(${MONTHS.join("|")}) (\\d{1,2}),? (\\d{4})(?!\\d)`, "i");
const FORMATS: Record<string, RegExp> = {
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  uri: /https?:\/\/[^\s<>"'`)\]]+[^\s<>"'`)\].,;:]/,
  uuid: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i,
  time: /(?<!\d)\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})/,
};

export interface FoundNumber {
  value: number;
  /** Where it begins and ends in the text. */
  start: number;
  end: number;
}

/** The numbers in `text`, in order; those from zero to twelve may be words. */
export function numbersIn(text: string): FoundNumber[] {
  const digits = [...text.matchAll(NUMBER)].flatMap(({ 0: raw, index }) =>
    PLACE.test(text.slice(Math.max(0, index - 16), index))
      ? []
      : [{ value: Number(raw.replace(/[,_]/g, "")), start: index, end: index + raw.length }],
  );
  const spelt = [...text.matchAll(NUMBER_WORD)].map(({ 0: raw, index }) => ({
    value: NUMBER_WORDS.indexOf(raw.toLowerCase()),
    start: index,
    end: index + raw.length,
  }));
  return [...digits, ...spelt].sort((a, b) => a.start - b.start);
}

/** What a cell of a table says, as the type asked for; undefined if it does not say it. */
export function cellValue(cell: string, { schema, type }: View): unknown {
  if (cell === "") return undefined;
  switch (type) {
    case "number":
    case "integer": {
      const values = new Set(numbersIn(cell).map(({ value }) => value));
      const [value] = values;
      return values.size === 1 && (type === "number" || Number.isInteger(value)) ? value : undefined;
    }
    case "boolean":
      if (/^(?:yes|true|✓|✔|✅)$/i.test(cell)) return true;
      return /^(?:no|false|✗|✘|❌)$/i.test(cell) ? false : undefined;
    case "string":
      return allowed(schema) ? allowed(schema)?.find((value) => same(value, cell)) : particular(cell, schema);
    default:
      return undefined;
  }
}

/** The values a schema permits by name; undefined if it permits any. */
export function allowed(schema: JsonSchema): unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** Whether a schema takes any text. */
export function isFree({ schema }: View): boolean {
  return schema.format === undefined && schema.pattern === undefined && allowed(schema) === undefined;
}

/** The part of `text` that has the schema's format or pattern; all of it if there is neither. */
export function particular(text: string, schema: JsonSchema): string | undefined {
  const { format, pattern } = schema;
  if (format === "date") return dateIn(text);
  if (format === "date-time") return ISO_TIME.exec(text)?.[0];
  const known = typeof format === "string" ? FORMATS[format] : undefined;
  if (known !== undefined) return known.exec(text)?.[0];
  return typeof pattern === "string" ? new RegExp(pattern, "u").exec(text)?.[0] : text;
}

function dateIn(text: string): string | undefined {
  const [, day, month, year] = DAY_FIRST.exec(text) ?? [];
  const [, month2, day2, year2] = MONTH_FIRST.exec(text) ?? [];
  if (month !== undefined) return isoDate(year, month, day);
  return month2 === undefined ? ISO_DATE.exec(text)?.[0] : isoDate(year2, month2, day2);
}

function isoDate(year = "", month = "", day = ""): string {
  const number = MONTHS.indexOf(month.toLowerCase()) + 1;
  return `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function same(value: unknown, cell: string): boolean {
  return String(value).toLowerCase() === cell.toLowerCase();
}
