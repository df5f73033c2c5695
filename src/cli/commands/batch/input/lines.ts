import { parseExactAt, withSource } from "../../../../json/exact-json.js";
import { isObject } from "../../../../json/is-object.js";
import type { InputRecord, Parsed } from "./records.js";

/** One prompt a line; blank lines are skipped. */
export function parseLines(text: string): Parsed {
  const records = linesOf(text).map(({ line, text: prompt }) => ({ line, fields: { prompt } }));
  return { records, faults: [], columns: ["prompt"] };
}

/** JSON Lines: an object a line; blank lines are skipped. */
export function parseJsonLines(text: string): Parsed {
  const parsed: Parsed & { records: InputRecord[] } = { records: [], faults: [] };
  for (const { line, text: json } of linesOf(text)) {
    const fields = objectOf(json);
    if (fields) parsed.records.push({ line, fields });
    else parsed.faults.push({ line, reason: "not a JSON object" });
  }
  return parsed;
}

function linesOf(text: string): { line: number; text: string }[] {
  return text
    .split(/\r?\n/)
    .map((content, index) => ({ line: index + 1, text: content }))
    .filter(({ text: content }) => content.trim() !== "");
}

function objectOf(json: string): Record<string, unknown> | undefined {
  try {
    const value = withSource(parseExactAt(json, "output_schema"), json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
