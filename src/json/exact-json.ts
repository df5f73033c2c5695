import { compactJson } from "./format.js";
import { forEachToken } from "./tokens.js";

/** JSON that is written as it stands, on one line: what `JSON.rawJSON` is for numbers, for any valid JSON text. */
export class JsonText {
  readonly text: string;

  /** `text` must be valid JSON; nothing checks it again. */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The text that an object or array was parsed from. A JavaScript value cannot hold all that JSON can say: numbers
 * beyond 2^53, `-0`, `1e400`, `1.0`, a name that stands twice. So the value serves for decisions, and the text is
 * what is passed on.
 */
const SOURCES = new WeakMap<object, string>();

/** Reads JSON. An object or array remembers its text for `exactJson`, until it is copied. Throws SyntaxError. */
export function parseExact(text: string): unknown {
  return withSource(JSON.parse(text), text);
}

/** Reads JSON of which the object or array at `path` alone remembers its text. Throws SyntaxError. */
export function parseExactAt(text: string, ...path: readonly string[]): unknown {
  const whole: unknown = JSON.parse(text);
  const part = path.reduce(memberOf, whole);
  // Most texts have no such member, and then they are not searched.
  if (isObject(part)) withSource(part, path.reduce(textOfMember, text));
  return whole;
}

/** The text of a member that is there. */
function textOfMember(source: string, name: string): string {
  return lastMember(source, name) ?? "null";
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Makes `value` remember the JSON text that it was read from. Returns `value`. */
export function withSource<T>(value: T, text: string): T {
  if (isObject(value)) SOURCES.set(value, text);
  return value;
}

/**
 * As `JSON.stringify(value)`, but -0 stays -0, and a JsonText, and an object or array that remembers its text, is
 * written from that text at any depth. A value that was changed after it was parsed is written as it was.
 */
export function exactJson(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  if (value instanceof JsonText) return compactJson(value.text);
  const source = SOURCES.get(value);
  if (source !== undefined) return compactJson(source);
  if (Array.isArray(value)) return `[${value.map(exactJson).join(",")}]`;
  // A frozen object without a prototype may be JSON.rawJSON's, which Node has since 22.
  if ("toJSON" in value || ("rawJSON" in value && Object.getPrototypeOf(value) === null))
    return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => !OMITTED.has(typeof member));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`).join(",")}}`;
}

/** A JSON text of `value` with all that `exactJson` has, perhaps with white space between its tokens. */
export function jsonSource(value: object): string {
  return SOURCES.get(value) ?? exactJson(value);
}

/** What JSON.stringify leaves out of an object. */
const OMITTED: ReadonlySet<string> = new Set(["undefined", "function", "symbol"]);

/** The text of one member of an object, undefined if no member has that name. Of a name that stands twice, the last. */
export function memberText(object: object, name: string): JsonText | undefined {
  if (!Object.hasOwn(object, name)) return undefined;
  const source = SOURCES.get(object);
  const found = source === undefined ? undefined : lastMember(source, name);
  return new JsonText(found ?? exactJson(Reflect.get(object, name)));
}

/** A copy of an object with a member that it has not: before the others, in its text as well. */
export function withMember<T extends object, Name extends string, Value>(
  object: T,
  name: Name,
  value: Value,
): T & Record<Name, Value> {
  const copy = { [name]: value, ...object } as T & Record<Name, Value>;
  if (Object.hasOwn(object, name)) return withSource(copy, exactJson(object));
  const rest = exactJson(object).slice(1);
  const separator = rest === "}" ? "" : ",";
  return withSource(copy, `{${JSON.stringify(name)}:${exactJson(value)}${separator}${rest}`);
}

/** The text of the last member of that name at the top level of the text of an object. */
function lastMember(source: string, name: string): string | undefined {
  let depth = 0;
  let isName = false;
  let isWanted = false;
  let from = -1;
  let found: string | undefined;
  forEachToken(source, (start, end) => {
    const token = source[start];
    if (depth === 1 && (token === "," || token === "}")) {
      if (isWanted) found = source.slice(from, start);
      isWanted = false;
    }
    if (isName && token === '"') isWanted = JSON.parse(source.slice(start, end)) === name;
    else if (depth === 1 && token === ":") from = end;
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    isName = depth === 1 && (token === "," || token === "{");
  });
  return found?.trim();
}
