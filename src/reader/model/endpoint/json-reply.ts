import { jsonrepair } from "jsonrepair";
import { tryParseJson } from "../../../core/json/exact-json.js";

/** A model's thoughts; some models' templates omit the opening tag. */
const THOUGHT = /^[\s\S]*<\/think(?:ing)?>|<think(?:ing)?>[\s\S]*$/i;
/** How many possible beginnings of a value are tried. */
const MAX_STARTS = 20;

/** Removes the model's thoughts from a reply. */
export function removeThoughts(text: string): string {
  return text.replace(THOUGHT, "").trim();
}

/**
 * Finds the JSON value in a reply: the whole reply, or its first object or array that can be parsed; with `mayRepair`,
 * also one with a small mistake, such as a trailing comma. Undefined if there is none. Ignores the model's
 * thoughts.
 */
export function findJson(text: string, mayRepair: boolean): unknown {
  const reply = removeThoughts(text);
  const starts = [...reply.matchAll(/[[{]/g)].slice(0, MAX_STARTS);
  const bracketed = starts.map(({ index }, nth) => {
    const end = findClosing(reply, index);
    // Repairing an unclosed value is slow, and all later values are inside it.
    return end === undefined && nth > 0 ? "" : reply.slice(index, end);
  });
  for (const candidate of [reply, ...bracketed]) {
    // Try the outer value first: a list inside a broken object is not the whole reply.
    const value = tryParseJson(candidate) ?? (mayRepair ? repairJson(candidate) : undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Repairs an object or list with a small mistake; undefined if the text does not look like one. */
function repairJson(text: string): unknown {
  const trimmed = text.trim();
  try {
    return /^[[{][\s\S]*["':]/.test(trimmed) ? tryParseJson(jsonrepair(trimmed)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the offset after the bracket that closes the one at `from`; undefined if none does. Ignores brackets in strings. */
function findClosing(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:\\.|[^"\\])*"?|[[\]{}]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return undefined;
}
