import type { JsonSchema } from "../../protocol/conversation.js";
import { UsageError } from "../errors.js";
import type { Host } from "../host.js";
import { checkSize, readTextFile, readTextStream } from "./bytes.js";

/**
 * A schema given as JSON text, as a path, or as `-` for stdin, checked as JSON and as a JSON Schema. Throws
 * UsageError that says where it is wrong, LocalError for an unreadable file.
 */
export async function readSchema(source: string, stdin: Host["stdin"]): Promise<JsonSchema> {
  const inline = /^\s*[[{]/.test(source);
  const what = inline ? "the schema" : source === "-" ? "the schema on stdin" : `the schema in ${source}`;
  const text = inline
    ? checkSize(source, "the schema")
    : source === "-"
      ? await readTextStream(stdin.stream, "the schema")
      : readTextFile(source, "the schema file");
  const schema = await parseJson(text, what);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${what} is no JSON Schema: it must be a JSON object`);
  }
  await checkSchema(schema as JsonSchema, what);
  return schema as JsonSchema;
}

/** Parses JSON; the UsageError names line and column of what is wrong. */
export async function parseJson(text: string, what: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${what} is no JSON: ${await placeOfError(text)}`);
  }
}

/** V8 names a place in some messages and on some versions only. */
async function placeOfError(text: string): Promise<string> {
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const first = errors[0];
  const before = text.slice(0, first?.offset ?? text.length);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  const reason = first ? printParseErrorCode(first.error) : "InvalidSymbol";
  return `line ${line}, column ${column}: ${reason.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}

/** Throws UsageError, with the place in the schema, for what is no JSON Schema. */
async function checkSchema(schema: JsonSchema, what: string): Promise<void> {
  const { schemaFault } = await import("../json-schema.js");
  const fault = schemaFault(schema);
  if (fault !== undefined) throw new UsageError(`${what} is no JSON Schema: ${fault}`);
}
