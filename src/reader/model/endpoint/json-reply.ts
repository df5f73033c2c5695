import { jsonrepair } from "jsonrepair";
import { tryParseJson } from "../../../core/json/exact-json.js";

/** Text of a model in which it thinks aloud; templates of some models leave out the opening mark. */
const THOUGHT = /^[\s\S]*<\/think(?:ing)?>|<think(?:ing)?>[\s\S]*$/i;
/** How many places where a value may begin are tried. */
const MAX_STARTS = 20;

/** A reply without what the model thought aloud before it. */
export function removeThoughts(text: string): string {
  return text.replace(THOUGHT, "").trim();
}

/**
 * The JSON value in a reply: all of it, or the first object or array in it that can be
 * read; with `mayRepair` also one with a slip, such as a trailing comma. Undefined if there is none. What the model
 * thought aloud before it is left out.
 */
export function findJson(text: string, mayRepair: boolean): unknown {
  const reply = removeThoughts(text);
  const starts = [...reply.matchAll(/[[{]/g)].slice(0, MAX_STARTS);
  const bracketed = starts.map(({ index }, nth) => {
    const end = findClosing(reply, index);
    // To repair one that is not closed takes long, and all behind it are within it.
    return end === undefined && nth > 0 ? "" : reply.slice(index, end);
  });
  for (const candidate of [reply, ...bracketed]) {
    // Before what stands inside it: a list of a broken object is not all of the reply.
    const value = tryParseJson(candidate) ?? (mayRepair ? repairJson(candidate) : undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The object or list that a text with a slip was to be; undefined if it does not look like one. */
function repairJson(text: string): unknown {
  const trimmed = text.trim();
  try {
    return /^[[{][\s\S]*["':]/.test(trimmed) ? tryParseJson(jsonrepair(trimmed)) : undefined;
  } catch {
    return undefined;
  }
}

/** The offset behind the bracket that closes the one at `from`; undefined if none does. Those in strings do not count. */
function findClosing(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:\\.|[^"\\])*"?|[[\]{}]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return undefined;
}
