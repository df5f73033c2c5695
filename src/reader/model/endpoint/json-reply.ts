import { jsonrepair } from "jsonrepair";
import { tryParseJson } from "../../../core/json/exact-json.js";

/** Matches the reasoning of a model. The templates of some models omit the opening tag. */
const THOUGHT = /^[\s\S]*<\/think(?:ing)?>|<think(?:ing)?>[\s\S]*$/i;
/** How many brackets are tried as the beginning of a value. */
const MAX_STARTS = 20;

/** Removes a model's reasoning from a reply. */
export function removeThoughts(text: string): string {
  return text.replace(THOUGHT, "").trim();
}

/**
 * Finds the JSON value in a reply: the whole reply, or its first valid object or array. With `mayRepair`, also accepts a
 * value with a small mistake, such as a trailing comma. Undefined if there is none. Ignores the model's reasoning.
 */
export function findJson(text: string, mayRepair: boolean): unknown {
  const reply = removeThoughts(text);
  const starts = [...reply.matchAll(/[[{]/g)].slice(0, MAX_STARTS);
  const bracketed = starts.map(({ index }, nth) => {
    const end = findClosingBracket(reply, index);
    // Only repair an unclosed value at the first bracket: repairs are slow, and later values are inside the first.
    return end === undefined && nth > 0 ? "" : reply.slice(index, end);
  });
  for (const candidate of [reply, ...bracketed]) {
    // Try the outer value first, because a list inside an invalid object is not the whole reply.
    const value = tryParseJson(candidate) ?? (mayRepair ? repairJson(candidate) : undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Repairs an object or list with a small mistake; undefined if the text does not look like one or is beyond repair. */
function repairJson(text: string): unknown {
  const trimmed = text.trim();
  try {
    return /^[[{][\s\S]*["':]/.test(trimmed) ? tryParseJson(jsonrepair(trimmed)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the offset after the bracket that closes the one at `from`; undefined if it is not closed. Ignores brackets in strings. */
function findClosingBracket(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:\\.|[^"\\])*"?|[[\]{}]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return undefined;
}
