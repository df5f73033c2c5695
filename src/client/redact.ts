import type { Data } from "../protocol/data.js";
import type { Verdict } from "./judge.js";

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
  if (verdict.kind === "data") return { ...verdict, data: hideIn(verdict.data, apiKey) };
  const hide = (text: string) => (betrays(text, apiKey) ? text.replaceAll(apiKey, INSTEAD) : text);
  const { error } = verdict;
  const { message, code, hint } = error;
  Object.assign(error, { message: hide(message), code: hide(code), hint: hint && hide(hint) });
  return verdict;
}

function hideIn(data: Data, apiKey: string): Data {
  const text = JSON.stringify(data);
  // The key as it stands in JSON: of visible ASCII (§5), that escapes the quotation mark and the backslash.
  const escaped = JSON.stringify(apiKey).slice(1, -1);
  return betrays(text, escaped) ? JSON.parse(text.replaceAll(escaped, INSTEAD)) : data;
}
