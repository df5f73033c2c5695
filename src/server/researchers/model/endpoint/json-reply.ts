import { jsonrepair } from "jsonrepair";
import { parsed } from "../json.js";

/** Text of a model in which it thinks aloud; templates of some models leave out the opening mark. */
const THOUGHT = /^[\s\S]*<\/think(?:ing)?>|<think(?:ing)?>[\s\S]*$/i;
const FENCE = /```[a-z]*[ \t]*\r?\n([\s\S]*?)(?:```|$)/gi;

/** A reply without what the model thought aloud before it; empty if the thinking does not end. */
export function withoutThoughts(text: string): string {
  return text.replace(THOUGHT, "").trim();
}

/**
 * The JSON value in a reply: all of it, or what stands in a code fence, or the first object or array in it that can be
 * read; with `mayRepair` also one with a slip, such as a trailing comma. Undefined if there is none.
 */
export function jsonIn(text: string, mayRepair: boolean): unknown {
  const reply = withoutThoughts(text);
  const fenced = [...reply.matchAll(FENCE)].map(([, inside = ""]) => inside);
  for (const candidate of [reply, ...fenced, ...bracketed(reply)]) {
    // Before what stands inside it: a list of a broken object is not all of the reply.
    const value = parsed(candidate) ?? (mayRepair ? repaired(candidate) : undefined);
    if (value !== undefined) return value;
  }
  const from = reply.search(/[[{]/);
  return mayRepair && from >= 0 ? repaired(reply.slice(from)) : undefined;
}

/** The object or list that a text with a slip was to be; undefined if it does not look like one. */
function repaired(text: string): unknown {
  const trimmed = text.trim();
  try {
    return /^[[{][\s\S]*["':]/.test(trimmed) ? parsed(jsonrepair(trimmed)) : undefined;
  } catch {
    return undefined;
  }
}

/** How many places where a value may begin are tried. */
const MAX_STARTS = 20;

/** Stretches from an opening bracket to the one that closes it; brackets in strings do not count. */
function* bracketed(text: string): Generator<string> {
  let starts = 0;
  for (let at = text.search(/[[{]/); at >= 0 && starts < MAX_STARTS; starts++) {
    const end = closing(text, at);
    if (end !== undefined) yield text.slice(at, end + 1);
    const next = text.slice(at + 1).search(/[[{]/);
    at = next < 0 ? -1 : at + 1 + next;
  }
}

function closing(text: string, from: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return undefined;
}
