import type { JsonSchema } from "../../../protocol/conversation.js";
import { overlap, unitOf, unitsIn } from "./names.js";
import { allowed, type View } from "./schema.js";

/** A number that stands for itself: not part of a name, a version, a date, a section, a product or a list's mark. */
const NUMBER =
  /(?<![\p{L}\p{N}_§#./:[-]|[\p{L}\p{N}_]\()(?:(?<=^|\s)-)?\d+(?:[,_]\d{3})*(?:\.\d+)?(?![\p{N}_\]]|[.:/-]\p{N}|\.\p{L}|\s?[*×^+/]\s?\p{N})/gu;
/** What a number after these words counts is a place, not an amount. */
const PLACE =
  /(?:tables?|sections?|chapters?|versions?|figures?|notes?|steps?|appendix|pages?|rfc|bugs?|issues?|iso|v\.?|no\.)[\s#]*$/i;
const FORMATS: Record<string, RegExp> = {
  date: /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/,
  "date-time": /(?<!\d)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/,
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  uri: /https?:\/\/[^\s<>"'`)\]]+[^\s<>"'`)\].,;:]/,
  uuid: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i,
  time: /(?<!\d)\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})/,
};
/** Marks around a value. */
const MARKS = "[\\s`'\"“”‘’*()]*";
const QUOTED = /^[\s(*]*(?:`([^`]{1,200})`|"([^"]{1,200})"|“([^”]{1,200})”|'([^']{1,200})'|‘([^’]{1,200})’)/u;

/** The numbers in `text`, in order, with where they begin and end. */
export function numbersIn(text: string): { value: number; start: number; end: number }[] {
  return [...text.matchAll(NUMBER)].flatMap(({ 0: raw, index }) =>
    PLACE.test(text.slice(Math.max(0, index - 16), index))
      ? []
      : [{ value: Number(raw.replace(/[,_]/g, "")), start: index, end: index + raw.length }],
  );
}

/** What a cell of a table says, as the type asked for; undefined if it does not say it. */
export function cellValue(cell: string, view: View): unknown {
  const { schema, type } = view;
  if (cell === "") return undefined;
  if (type === "number" || type === "integer") {
    const values = new Set(numbersIn(cell).map(({ value }) => value));
    const [value] = values;
    return values.size === 1 && (type === "number" || Number.isInteger(value)) ? value : undefined;
  }
  if (type === "boolean") {
    if (/^[`*]*(?:yes|true|✓|✔|✅)[`*]*$/i.test(cell)) return true;
    return /^[`*]*(?:no|false|✗|✘|❌)[`*]*$/i.test(cell) ? false : undefined;
  }
  if (type !== "string") return undefined;
  const bare = cell.replace(/^`([^`]*)`$/, "$1");
  const permitted = allowed(schema);
  return permitted
    ? permitted.find((value) => `${value}`.toLowerCase() === bare.toLowerCase())
    : particular(bare, schema);
}

/**
 * The value at the beginning of `text`, as the type asked for. `units` are those that are asked for; `around` is what
 * may name the unit of a number that has none itself.
 */
export function valueAt(text: string, view: View, units: ReadonlySet<string>, around: string): unknown {
  const { schema, type } = view;
  if (type === "number" || type === "integer") {
    const [first] = numbersIn(text);
    if (first === undefined || !new RegExp(`^${MARKS}$`, "u").test(text.slice(0, first.start)))
      return undefined;
    if (type === "integer" && !Number.isInteger(first.value)) return undefined;
    const after = /^[\s`'"*-]{0,3}(%|\p{L}+)/u.exec(text.slice(first.end))?.[1];
    const unit = after === undefined ? undefined : unitOf(after);
    const isUnit =
      unit === undefined ? units.size === 0 || overlap(units, unitsIn(around)) > 0 : units.has(unit);
    return isUnit ? first.value : undefined;
  }
  const permitted = type === "boolean" ? [true, false] : allowed(schema);
  if (permitted !== undefined) {
    const isAt = (value: unknown) => {
      const literal = String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      return new RegExp(`^${MARKS}${literal}(?![\\p{L}\\p{N}_-])`, "iu").test(text);
    };
    const [longest] = permitted.filter(isAt).sort((a, b) => String(b).length - String(a).length);
    return longest;
  }
  if (type !== "string") return undefined;
  const quoted = QUOTED.exec(text)
    ?.slice(1)
    .find((part) => part !== undefined);
  return quoted && particular(quoted.replace(/^(['"])(.*)\1$/, "$2"), schema);
}

/** The part of `text` that has the schema's format or pattern; all of it if there is neither. */
export function particular(text: string, { format, pattern, maxLength }: JsonSchema): string | undefined {
  if (typeof maxLength === "number" && text.length > maxLength) return undefined;
  const known = typeof format === "string" ? FORMATS[format] : undefined;
  if (known !== undefined) return known.exec(text)?.[0];
  return typeof pattern === "string" ? new RegExp(pattern, "u").exec(text)?.[0] : text;
}
