import { CsvError, type Info, parse } from "csv-parse/sync";
import { attachJsonText, isObject, tryParseExact } from "../../../../core/json/exact-json.js";
import { formatCount } from "../../../../core/text/format-text.js";

/** One entry of the input, as parsed. */
export interface InputRecord {
  /** The number of the entry's first line, from 1. */
  line: number;
  fields: Readonly<Record<string, unknown>>;
}

/** What is wrong with the input, and in which line; without a line, what is wrong with the whole command. */
export interface RowFault {
  line?: number;
  reason: string;
}

export interface ParsedInput {
  records: InputRecord[];
  faults: RowFault[];
  /** The columns that all records have; undefined if records may differ. */
  columns?: readonly string[];
}

export type Format = "txt" | "jsonl" | "csv";

/** Guesses the format of an input from the file name, or else from its first line. `template`: whether a template names columns. */
export function detectFormat(path: string, text: string, template: boolean): Format {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "txt") return ending;
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  const first = text.trimStart().split(/\r?\n/, 1)[0] ?? "";
  if (first.startsWith("{")) return "jsonl";
  const columns = first.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  return template || (columns.includes("prompt") && columns.length > 1) ? "csv" : "txt";
}

/** Parses a text with a prompt on each line. Skips blank lines. */
export function parsePromptLines(text: string): ParsedInput {
  const records = listNonBlankLines(text).map(({ line, text: prompt }) => ({ line, fields: { prompt } }));
  return { records, faults: [], columns: ["prompt"] };
}

/** Parses JSON Lines, with an object on each line. Skips blank lines. */
export function parseJsonLines(text: string): ParsedInput {
  const parsed: ParsedInput = { records: [], faults: [] };
  for (const { line, text: json } of listNonBlankLines(text)) {
    const value = tryParseExact(json, "output_schema");
    if (isObject(value)) parsed.records.push({ line, fields: attachJsonText(value, json) });
    else parsed.faults.push({ line, reason: "not a JSON object" });
  }
  return parsed;
}

function listNonBlankLines(text: string): { line: number; text: string }[] {
  return text
    .split(/\r?\n/)
    .map((content, index) => ({ line: index + 1, text: content }))
    .filter(({ text: content }) => content.trim() !== "");
}

/** Parses comma-separated values with a header line (RFC 4180). Stops at the first syntax error. */
export function parseCsv(text: string): ParsedInput {
  const faults: RowFault[] = [];
  const records: InputRecord[] = [];
  let columns: string[] | undefined;
  const take = ({ record: cells, raw, info }: { record: string[]; raw: string; info: Info }) => {
    // The parser reports the last line of a record, and a quoted cell may contain line breaks.
    const line = info.lines - (raw.trim().match(/\n/g)?.length ?? 0);
    if (!columns) {
      columns = cells.map((name) => name.trim());
      const twice = columns.filter((name, index, all) => all.indexOf(name) !== index);
      for (const name of twice)
        faults.push({ line, reason: `two columns are named ${JSON.stringify(name)}` });
    } else if (cells.length !== columns.length) {
      const reason = `it has ${formatCount(cells.length, "cell")}, and the header names ${columns.length} columns`;
      faults.push({ line, reason });
    } else {
      records.push({ line, fields: Object.fromEntries(columns.map((name, i) => [name, cells[i]])) });
    }
    return null;
  };
  try {
    const options = { info: true, raw: true, skip_empty_lines: true, relax_column_count: true };
    parse(text, { ...options, on_record: (record) => take(record as unknown as Parameters<typeof take>[0]) });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === "number" ? { line: error.lines } : {};
    faults.push({ ...line, reason: `invalid CSV: ${error.message}` });
  }
  return { records, faults, columns: columns ?? [] };
}
