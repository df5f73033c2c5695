/** One entry of the input, before anything is made of it. */
export interface InputRecord {
  /** Where it begins, from 1. */
  line: number;
  fields: Readonly<Record<string, unknown>>;
}

/** What is wrong with the input, and where; without a line it is about the command. */
export interface RowFault {
  line?: number;
  reason: string;
}

export interface Parsed {
  records: InputRecord[];
  faults: RowFault[];
  /** The columns that every record has; undefined if each has its own. */
  columns?: readonly string[];
}

export const FORMATS = ["txt", "jsonl", "csv"] as const;
export type Format = (typeof FORMATS)[number];

/** The format of an input: by the ending of its file's name, else by how it begins. `template`: whether columns are named. */
export function formatOf(path: string, text: string, template: boolean): Format {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "txt") return ending;
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  const first = text.trimStart().split(/\r?\n/, 1)[0] ?? "";
  if (first.startsWith("{")) return "jsonl";
  const columns = first.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  return template || (columns.includes("prompt") && columns.length > 1) ? "csv" : "txt";
}
