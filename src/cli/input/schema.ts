import { UsageError } from "../../machine/errors.js";
import { checkSize, readTextFile, readTextStream } from "../../machine/read-text.js";
import type { JsonSchema } from "../../protocol/conversation.js";
import type { Host } from "../terminal/host.js";
import { parseJson } from "./json.js";

/**
 * A schema given as JSON text, as a path, or as `-` for stdin, checked as JSON and as a JSON Schema. Throws
 * UsageError that says where it is wrong, LocalError for an unreadable file.
 */
export async function readSchema(
  source: string,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<JsonSchema> {
  const inline = /^\s*[[{]/.test(source);
  const what = inline ? "the schema" : source === "-" ? "the schema on stdin" : `the schema in ${source}`;
  const text = inline
    ? checkSize(source, "the schema")
    : source === "-"
      ? await readTextStream(stdin.stream, "the schema", signal)
      : await readTextFile(source, "the schema file", signal);
  const schema = await parseJson(text, what);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${what} is an invalid JSON Schema: it must be a JSON object`);
  }
  await requireSchema(schema as JsonSchema, what, signal);
  return schema as JsonSchema;
}

/** The schema of a `--schema` flag; undefined if it was not given. Throws as `readSchema`. */
export async function readGivenSchema(
  source: string | undefined,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<JsonSchema | undefined> {
  if (source === undefined) return undefined;
  if (source === "")
    throw new UsageError("invalid value for --schema: it is empty", "Give a file, - for stdin, or JSON.");
  return readSchema(source, stdin, signal);
}

/** Throws UsageError, with the place in the schema, for an invalid one. */
async function requireSchema(schema: JsonSchema, what: string, signal: AbortSignal): Promise<void> {
  const { checkSchema, problemText } = await import("../../json-schema/check.js");
  const problem = await checkSchema(schema, signal);
  if (problem)
    throw new UsageError(`${what} is an invalid JSON Schema: ${problemText(problem, "the top level")}`);
}
