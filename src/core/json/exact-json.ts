/** A JSON text that `stringifyExact` writes with unchanged tokens, on one line. */
export class JsonText {
  readonly text: string;

  /** `text` must be valid JSON: it is not checked again. */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The property in which an object or array keeps the text from which it was parsed. A JavaScript value cannot represent all
 * of JSON: numbers beyond 2^53, `-0`, `1e400`, `1.0`, duplicate names. So the program decides by the value and passes on the
 * text. A copy does not keep the text, because the property is not enumerable. (A WeakMap is slower: with its hash codes and its
 * table to collect, a poll takes 4 µs more.)
 */
const SOURCE = Symbol("source");

/** Parses JSON. The object or array at `path` (default: the whole) keeps its text, copies of it do not. Throws SyntaxError. */
export function parseExact(text: string, ...path: readonly string[]): unknown {
  const whole: unknown = JSON.parse(text);
  const part = path.reduce(getMember, whole);
  // Search the text only if the value has an object or array at the path.
  if (isStructured(part))
    attachJsonText(
      part,
      path.reduce((source, name) => findLastMember(source, name) ?? "null", text),
    );
  return whole;
}

/** Parses JSON like `parseExact`; undefined if the text is not JSON. */
export function tryParseExact(text: string, ...path: readonly string[]): unknown {
  try {
    return parseExact(text, ...path);
  } catch {
    return undefined;
  }
}

function getMember(value: unknown, name: string): unknown {
  return isStructured(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/** Returns whether a value is an object or an array, the structured types of RFC 8259 §1. */
function isStructured(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Makes `value` keep the JSON text from which it was read. Returns `value`. */
export function attachJsonText<T>(value: T, text: string): T {
  if (isStructured(value))
    Object.defineProperty(value, SOURCE, { value: text, writable: true, configurable: true });
  return value;
}

function getJsonText(value: object): string | undefined {
  return (value as { [SOURCE]?: string })[SOURCE];
}

/** Writes JSON like `JSON.stringify`, but keeps -0, and writes the kept text of a value, even if the value was changed since. */
export function stringifyExact(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (!isStructured(value)) return JSON.stringify(value) ?? "null";
  if (value instanceof JsonText) return compactJson(value.text);
  const source = getJsonText(value);
  if (source !== undefined) return compactJson(source);
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(",")}]`;
  if ("toJSON" in value) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => !OMITTED.has(typeof member));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringifyExact(member)}`).join(",")}}`;
}

/** The types of values that JSON.stringify omits from an object. */
const OMITTED: ReadonlySet<string> = new Set(["undefined", "function", "symbol"]);

/** Returns the text of a member of an object (the last one, if several have the name); undefined if there is none. */
export function findMemberText(object: object, name: string): JsonText | undefined {
  if (!Object.hasOwn(object, name)) return undefined;
  const source = getJsonText(object);
  const memberSource = source === undefined ? undefined : findLastMember(source, name);
  return new JsonText(memberSource ?? stringifyExact(Reflect.get(object, name)));
}

/** Parses JSON. A number that JavaScript would write differently becomes a JsonText, so that even a copy keeps it. Throws SyntaxError. */
export function parseExactValue(text: string): unknown {
  const value = parseExact(text);
  return typeof value === "number" && String(value) !== text.trim() ? new JsonText(text.trim()) : value;
}

/** Copies an object. Its members keep their text, even in a copy of the copy. */
export function copyWithExactMembers(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(object).map((name) => [name, parseExactValue(findMemberText(object, name)?.text ?? "null")]),
  );
}

/** Copies an object and its JSON source text, with a new first member. An object that already has the member is only copied. */
export function addFirstMember<T extends object, Name extends string, Value>(
  object: T,
  name: Name,
  value: Value,
): T & Record<Name, Value> {
  const copy = { [name]: value, ...object } as T & Record<Name, Value>;
  if (Object.hasOwn(object, name)) return attachJsonText(copy, stringifyExact(object));
  const rest = stringifyExact(object).slice(1);
  const separator = rest === "}" ? "" : ",";
  return attachJsonText(copy, `{${JSON.stringify(name)}:${stringifyExact(value)}${separator}${rest}`);
}

/** Parses the text of an array, each of whose elements keeps its text. Other JSON is parsed as usual. Throws SyntaxError. */
export function parseExactElements(text: string): unknown {
  const array: unknown = JSON.parse(text);
  if (!Array.isArray(array)) return array;
  const parts = listJsonParts(text);
  return array.map((element, index) => attachJsonText(element, parts[index]?.text ?? ""));
}

/** Returns the text of the last member called `name` at the top level of an object's text; undefined if there is none. */
function findLastMember(source: string, name: string): string | undefined {
  return listJsonParts(source).findLast((part) => part.name === name)?.text;
}

/** Lists the texts of an object's members in order, or of an array's elements, whose name is "". */
export function listJsonParts(source: string): { name: string; text: string }[] {
  const parts: { name: string; text: string }[] = [];
  let name = "";
  let [depth, from] = [0, 0];
  visitJsonTokens(source, (start, end) => {
    const token = source.charAt(start);
    if (token === "}" || token === "]") depth--;
    if (depth === 1 ? token === "," : depth === 0 && "}]".includes(token)) {
      const text = source.slice(from, start).trim();
      if (text !== "") parts.push({ name, text });
    } else if (depth === 1 && token === ":") name = JSON.parse(source.slice(from, start));
    if (token === "{" || token === "[") depth++;
    if (depth === 1 && "{[,:".includes(token)) from = end;
  });
  return parts;
}

/**
 * Calls `visit` with the start and end of each token of a JSON text, in order. White space is not a token; a string with its
 * quotes, a number and a literal are one token each. The text must be valid JSON, because nothing is checked. Takes linear
 * time, and uses no regular expression, whose backtracking overflows on strings of several megabytes.
 */
export function visitJsonTokens(text: string, visit: (start: number, end: number) => void): void {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (isJsonSpace(code)) {
      at++;
      continue;
    }
    const end =
      code === QUOTE ? findStringEnd(text, at) : isJsonPunctuation(code) ? at + 1 : findScalarEnd(text, at);
    visit(at, end);
    at = end;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function findStringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    // After an even number of backslashes, which escape each other, the quote ends the string.
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

function findScalarEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isJsonSpace(text.charCodeAt(end)) && !isJsonPunctuation(text.charCodeAt(end)))
    end++;
  return end;
}

/** Returns whether a character is white space: space, tab, line feed or carriage return (RFC 8259 §2). */
function isJsonSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Returns whether a character is one of `{ } [ ] : ,` (RFC 8259 §2). */
function isJsonPunctuation(code: number): boolean {
  return code === 0x7b || code === 0x7d || code === 0x5b || code === 0x5d || code === 0x3a || code === 0x2c;
}

/** Puts JSON on one line: drops white space between tokens and keeps all tokens unchanged. */
export function compactJson(text: string): string {
  const result = new StringBuilder();
  let from = 0;
  let to = 0;
  visitJsonTokens(text, (start, end) => {
    if (start !== to) {
      result.add(text.slice(from, to));
      from = start;
    }
    to = end;
  });
  result.add(text.slice(from, to));
  return result.joinParts();
}

/** Formats JSON like `JSON.stringify` with `indent` spaces, but keeps all tokens unchanged. */
export function indentJson(text: string, indent: number): string {
  const result = new StringBuilder();
  let depth = 0;
  let previous = "";
  visitJsonTokens(text, (start, end) => {
    const token = text.slice(start, end);
    const isClosing = token === "}" || token === "]";
    const isAfterOpening = previous === "{" || previous === "[";
    if (isClosing) depth--;
    // Keep an empty object or array on its line.
    if (isAfterOpening !== isClosing || previous === ",") result.add(`\n${" ".repeat(depth * indent)}`);
    result.add(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth++;
    previous = token;
  });
  return result.joinParts();
}

/** Returns how deep objects and arrays are nested in a text, which may be invalid JSON. Brackets in strings do not count. */
export function measureJsonNesting(text: string): number {
  let deepest = 0;
  let depth = 0;
  visitJsonTokens(text, (start, end) => {
    if (end - start > 1) return;
    const token = text[start];
    if (token === "{" || token === "[") deepest = Math.max(deepest, ++depth);
    else if (token === "}" || token === "]") depth--;
  });
  return deepest;
}

/** A text built from small pieces. Joins them in batches of 10,000, because an array of millions would fill the memory. */
class StringBuilder {
  readonly #done: string[] = [];
  #recent: string[] = [];

  add(piece: string): void {
    if (this.#recent.push(piece) < 10_000) return;
    this.#done.push(this.#recent.join(""));
    this.#recent = [];
  }

  joinParts(): string {
    return this.#done.join("") + this.#recent.join("");
  }
}

/** Returns whether a JSON value is an object, neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return isStructured(value) && !Array.isArray(value);
}

/** Returns a string unchanged; undefined for anything else. */
export function readString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Parses JSON; undefined if the text is not JSON. The value does not keep its text, so the caller may change it. */
export function tryParseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
