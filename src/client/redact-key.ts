import type { Data } from "../protocol/data.js";
import type { Verdict } from "./classify-response.js";

/** A shorter text is no key worth hiding, and hiding it would garble answers that merely contain it. */
const SHORTEST = 8;
const INSTEAD = "[key]";

/** Whether `text` gives the key away. */
export function betrays(text: string, apiKey: string): boolean {
  return apiKey.length >= SHORTEST && text.includes(apiKey);
}

/**
 * A verdict without the key: a service, or a page that something in between made, may quote the request with
 * its headers. Not even the result of an output is worth a key in a log.
 */
export function withoutKey(verdict: Verdict, apiKey: string): Verdict {
  const hide = (text: string) => (betrays(text, apiKey) ? text.replaceAll(apiKey, INSTEAD) : text);
  if (verdict.kind === "data")
    return holds(verdict.data, apiKey) ? { ...verdict, data: hideIn(verdict.data, hide) as Data } : verdict;
  const { error } = verdict;
  const { message, code, hint } = error;
  Object.assign(error, { message: hide(message), code: hide(code), hint: hint && hide(hint) });
  return verdict;
}

/** Whether the key stands anywhere in a JSON value, in the name of a field, or as a number. */
function holds(value: unknown, apiKey: string): boolean {
  if (typeof value === "string") return betrays(value, apiKey);
  if (typeof value === "number") return betrays(String(value), apiKey);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((part) => holds(part, apiKey));
  return Object.entries(value).some(([name, part]) => betrays(name, apiKey) || holds(part, apiKey));
}

function hideIn(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value === "number") return hide(String(value)) === String(value) ? value : INSTEAD;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => hideIn(part, hide));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [hide(name), hideIn(part, hide)]));
}
