import { MAX_INPUT_BYTES } from "../../../../app/read-text.js";
import { InputError } from "../../../../client/dialects/dialect.js";
import { computeRowDigest } from "../../../../client/store/history/equal-creates.js";
import {
  type BatchRow,
  buildFileStem,
  buildRowId,
  MAX_STEM_BYTES,
} from "../../../../client/workflows/batch/batch-row.js";
import { findMemberText, isObject, stringifyExact, tryParseExact } from "../../../../core/json/exact-json.js";
import {
  buildRequestBody,
  type CreateBody,
  type JsonSchema,
} from "../../../../core/protocol/conversation.js";
import type { InputRecord, ParsedInput, RowFault } from "./parse-formats.js";

export interface RowOptions {
  template: PromptTemplate | undefined;
  schema: JsonSchema | undefined;
  structured: boolean;
  /** What is wrong with the invalid schemas of rows, by their JSON text. */
  schemaProblems: ReadonlyMap<string, string>;
  /** Whether a column `model` names the model of a row. It does not if the template uses that column. */
  takesModels: boolean;
  /** Completes the request of a row for the account of `profile`. Throws InputError. */
  complete: (body: CreateBody, profile: string | undefined) => CreateBody;
}

/** Builds rows from the parsed records, and collects what is wrong with the invalid ones. */
export function buildRows(
  parsed: ParsedInput,
  options: RowOptions,
): { rows: BatchRow[]; faults: RowFault[] } {
  const missing = findMissingColumns(parsed, options.template);
  if (missing) return { rows: [], faults: [...parsed.faults, missing] };
  const checks = new RowBuilder(options);
  const rows = parsed.records.flatMap((record) => checks.buildRow(record) ?? []);
  const faults = [...parsed.faults, ...checks.faults];
  if (rows.length === 0 && faults.length === 0) faults.push({ reason: "the input has no prompt" });
  return { rows, faults: faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** Returns the fault of a missing column. If all records share their columns, the fault belongs to the header instead of each record. */
function findMissingColumns(
  { columns, records }: ParsedInput,
  template: PromptTemplate | undefined,
): RowFault | undefined {
  if (template?.columns.length === 0) return { reason: "the template contains no column such as {{prompt}}" };
  const wanted = template?.columns ?? ["prompt"];
  const [name] = columns ? wanted.filter((wish) => !columns.includes(wish)) : [];
  if (name === undefined || !columns) return undefined;
  const what = template
    ? `the template names a missing column, {{${name}}}`
    : "the column `prompt` is missing";
  const line = records.length > 0 || columns.length > 0 ? 1 : undefined;
  const there = columns.length > 0 ? `the columns are: ${columns.join(", ")}` : "the header line is missing";
  return { ...(line && { line }), reason: `${what}; ${there}` };
}

class RowBuilder {
  readonly faults: RowFault[] = [];
  readonly #keys = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  /** The line of the current record, from 1. */
  #line = 0;

  constructor(private readonly options: RowOptions) {}

  buildRow({ line, fields }: InputRecord): BatchRow | undefined {
    const before = this.faults.length;
    this.#line = line;
    const prompt = this.#prompt(fields) ?? "";
    const schema = this.#readSchema(fields.output_schema);
    const key = this.#readKey(fields);
    if (this.faults.length > before) return undefined;
    const structured = this.options.structured || fields.structured_output === true;
    const profile = readRowProfile(fields, this.options.template);
    const model = this.#readModel(fields);
    const asked = {
      ...buildRequestBody(prompt, schema ?? this.options.schema, structured),
      ...(model !== undefined && { model }),
    };
    const body = this.#complete(asked, profile);
    if (!body || this.faults.length > before) return undefined;
    const digest = computeRowDigest(body, profile);
    const nth = (this.#asked.get(digest) ?? 0) + 1;
    if (key === undefined) this.#asked.set(digest, nth);
    return {
      id: buildRowId(key, digest, nth),
      key,
      line,
      body,
      digest,
      ...(profile !== undefined && { profile }),
    };
  }

  #fail(reason: string): undefined {
    this.faults.push({ line: this.#line, reason });
  }

  #readModel({ model }: InputRecord["fields"]): string | undefined {
    const { takesModels, template } = this.options;
    if (template?.columns.includes("model")) return undefined;
    if (model === undefined || model === null || model === "") return undefined;
    if (!takesModels) this.#fail("it names a model, which the research interface does not support");
    return typeof model === "string" ? model : this.#fail("the model is not a string");
  }

  #complete(body: CreateBody, profile: string | undefined) {
    try {
      return this.options.complete(body, profile);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return this.#fail(error.message);
    }
  }

  #prompt(fields: InputRecord["fields"]): string | undefined {
    const { template } = this.options;
    const missing = template?.listMissing(fields) ?? [];
    for (const name of missing) this.#fail(`the template names a missing column, {{${name}}}`);
    if (missing.length > 0) return undefined;
    const prompt = template ? template.fill(fields) : fields.prompt;
    if (prompt === undefined || prompt === null) return this.#fail("no prompt");
    if (typeof prompt !== "string") return this.#fail("the prompt is not a string");
    if (prompt.trim() === "") return this.#fail("no prompt: it is blank");
    return Buffer.byteLength(prompt) > MAX_INPUT_BYTES ? this.#fail("the prompt is over 1 MiB") : prompt;
  }

  #readSchema(given: unknown): JsonSchema | undefined {
    const text = getSchemaText(given);
    if (text === undefined) return undefined;
    const schema = parseSchemaText(text);
    if (!schema) this.#fail("output_schema is not a JSON Schema: it must be a JSON object");
    const problem = this.options.schemaProblems.get(text);
    if (problem !== undefined) this.#fail(`output_schema is not a JSON Schema: ${problem}`);
    return schema;
  }

  #readKey(fields: InputRecord["fields"]): string | undefined {
    const { key: given } = fields;
    if (given === undefined || given === null || given === "") return undefined;
    if (typeof given !== "string" && typeof given !== "number")
      return this.#fail("the key is neither a string nor a number");
    // Use the number's text, because JavaScript would round a 64-bit id.
    const key = (typeof given === "number" && findMemberText(fields, "key")?.text) || String(given);
    const first = this.#keys.get(key);
    if (first !== undefined) this.#fail(`line ${first} has the same key, ${JSON.stringify(key)}`);
    else this.#keys.set(key, this.#line);
    if (Buffer.byteLength(buildFileStem(key)) > MAX_STEM_BYTES)
      this.#fail("the key is too long to name a file");
    return key;
  }
}

/** Returns the profile that a row names; undefined if it names none, or if the template uses that column as text. */
export function readRowProfile(
  { profile }: InputRecord["fields"],
  template: PromptTemplate | undefined,
): string | undefined {
  const isText = template?.columns.includes("profile");
  return isText || profile === undefined || profile === null || profile === "" ? undefined : String(profile);
}

/** Returns the JSON text of a row's schema; undefined without a schema. A cell of CSV is already text, and may be empty. */
export function getSchemaText(given: unknown): string | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  return typeof given === "string" ? given : stringifyExact(given);
}

/** Parses a schema and keeps its text for `stringifyExact`; undefined if the text is not a JSON object. */
export function parseSchemaText(text: string): JsonSchema | undefined {
  const value = tryParseExact(text);
  return isObject(value) ? value : undefined;
}

const PLACE = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** A prompt with placeholders for columns: `Compare {{company}} with {{rival}}`. */
export class PromptTemplate {
  readonly columns: readonly string[];

  constructor(private readonly text: string) {
    this.columns = [...new Set(Array.from(text.matchAll(PLACE), ([, name = ""]) => name))];
  }

  /** Lists the placeholders for which `fields` has no value. */
  listMissing(fields: Readonly<Record<string, unknown>>): string[] {
    return this.columns.filter((name) => !Object.hasOwn(fields, name));
  }

  /** Replaces each placeholder: by a text as it is, or by the JSON of any other value. */
  fill(fields: Readonly<Record<string, unknown>>): string {
    return this.text.replace(PLACE, (_all, name: string) => {
      const value = fields[name];
      return typeof value === "string" ? value : stringifyExact(findMemberText(fields, name));
    });
  }
}
