import type { JsonSchema } from "../../../protocol/conversation.js";
import { MAX_INPUT_BYTES } from "../../input/bytes.js";
import { requestBody } from "../../input/create-request.js";
import { digestOf, fileStem, MAX_STEM_BYTES, type Row, rowId } from "../row.js";
import type { Fault, InputRecord, Parsed } from "./records.js";
import type { Template } from "./template.js";

export interface RowOptions {
  template: Template | undefined;
  /** For the rows that bring none of their own. */
  schema: JsonSchema | undefined;
  structured: boolean;
  /** Says why a value is no JSON Schema, undefined where it is one. */
  schemaFault: (schema: JsonSchema) => string | undefined;
}

/** Makes rows of what was read, and names every one that cannot be one. */
export function rowsOf(parsed: Parsed, options: RowOptions): { rows: Row[]; faults: Fault[] } {
  const missing = missingColumns(parsed, options.template);
  if (missing) return { rows: [], faults: [...parsed.faults, missing] };
  const checks = new Checks(options);
  const rows = parsed.records.flatMap((record) => checks.row(record) ?? []);
  const faults = [...parsed.faults, ...checks.faults];
  if (rows.length === 0 && faults.length === 0) faults.push({ reason: "there is no prompt in it" });
  return { rows, faults: faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** Where all records have the same columns, a missing one is a fault of the header and not of each record. */
function missingColumns({ columns, records }: Parsed, template: Template | undefined): Fault | undefined {
  if (template?.columns.length === 0) return { reason: "the template names no column: {{column}}" };
  const wanted = template?.columns ?? ["prompt"];
  const [name] = columns ? wanted.filter((wish) => !columns.includes(wish)) : [];
  if (name === undefined || !columns) return undefined;
  const what = template ? `the template names a missing column, {{${name}}}` : "there is no column `prompt`";
  const line = records.length > 0 || columns.length > 0 ? 1 : undefined;
  const there = columns.length > 0 ? `there are: ${columns.join(", ")}` : "there is no header line";
  return { ...(line && { line }), reason: `${what}; ${there}` };
}

class Checks {
  readonly faults: Fault[] = [];
  readonly #options: RowOptions;
  readonly #keys = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  /** Schemas by their text: most rows of a batch share one, and compiling one takes a millisecond. */
  readonly #schemas = new Map<string, string | undefined>();

  constructor(options: RowOptions) {
    this.#options = options;
  }

  row({ line, fields }: InputRecord): Row | undefined {
    const before = this.faults.length;
    const fail = (reason: string) => void this.faults.push({ line, reason });
    const prompt = this.#prompt(fields, fail);
    const schema = this.#schema(fields.output_schema, fail);
    const key = this.#key(fields.key, line, fail);
    if (this.faults.length > before) return undefined;
    const structured = this.#options.structured || fields.structured_output === true;
    const body = requestBody(prompt, schema ?? this.#options.schema, structured);
    const digest = digestOf(body);
    const nth = (this.#asked.get(digest) ?? 0) + 1;
    if (key === undefined) this.#asked.set(digest, nth);
    return { id: rowId(key, digest, nth), key, line, body, digest };
  }

  #prompt(fields: InputRecord["fields"], fail: (reason: string) => void): string {
    const { template } = this.#options;
    const missing = template?.missingIn(fields) ?? [];
    for (const name of missing) fail(`the template names a missing column, {{${name}}}`);
    if (missing.length > 0) return "";
    const prompt = template ? template.fill(fields) : fields.prompt;
    if (prompt === undefined || prompt === null) fail("no prompt");
    else if (typeof prompt !== "string") fail("the prompt is no text");
    else if (prompt.trim() === "") fail("no prompt: it is blank");
    else if (Buffer.byteLength(prompt) > MAX_INPUT_BYTES) fail("the prompt is over 1 MiB");
    else return prompt;
    return "";
  }

  /** In CSV a schema is JSON text, and an empty cell is none. */
  #schema(given: unknown, fail: (reason: string) => void): JsonSchema | undefined {
    if (given === undefined || given === null || given === "") return undefined;
    const text = typeof given === "string" ? given : JSON.stringify(given);
    if (!this.#schemas.has(text)) this.#schemas.set(text, this.#faultOf(text));
    const fault = this.#schemas.get(text);
    if (fault === undefined) return JSON.parse(text) as JsonSchema;
    fail(`output_schema is no JSON Schema: ${fault}`);
    return undefined;
  }

  #faultOf(text: string): string | undefined {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return "it must be a JSON object";
      return this.#options.schemaFault(value as JsonSchema);
    } catch {
      return "it is no JSON";
    }
  }

  #key(given: unknown, line: number, fail: (reason: string) => void): string | undefined {
    if (given === undefined || given === null || given === "") return undefined;
    if (typeof given !== "string" && typeof given !== "number") {
      fail("the key is neither text nor a number");
      return undefined;
    }
    const key = String(given);
    const first = this.#keys.get(key);
    if (first !== undefined) fail(`the key ${JSON.stringify(key)} is that of line ${first} already`);
    else this.#keys.set(key, line);
    if (Buffer.byteLength(fileStem(key)) > MAX_STEM_BYTES) fail("the key is too long to name a file");
    return key;
  }
}
