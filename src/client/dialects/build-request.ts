import { stringifyExact } from "../../core/json/exact-json.js";
import type { CreateBody, JsonSchema, Operation } from "../../core/protocol/conversation.js";
import { type DialectRequest, InputError } from "./dialect.js";

/** Options that a user may not set, because they change when or where the answer arrives. */
const NEVER = /^(?:stream|background|store|n|webhook.*)$/;

/** The Dialect properties that all providers share. 100 ms between polls are 10 polls a second (contract §9). */
export const PROVIDER = { statusIsResult: true, mayLag: true, betweenPollsMs: 100 } as const;

/**
 * Builds a provider's create request from our fields (`ours`) and the user's options. Throws InputError for structured
 * output without a schema, and for an option with the name of one of our fields, even if that field is undefined.
 */
export function buildCreateRequest(
  title: string,
  path: string,
  { options = {}, structured_output, output_schema }: Partial<CreateBody>,
  ours: Readonly<Record<string, unknown>>,
): DialectRequest {
  if (structured_output && !output_schema)
    throw new InputError(
      `${title} has no structured output without a schema`,
      "Pass a schema with --schema.",
    );
  checkProviderOptions(title, options, Object.keys(ours));
  return { method: "POST", path, json: true, body: stringifyExact({ ...ours, ...options }) };
}

/** Throws InputError if `options` contains a name of `ours`, or one that a user may not set. */
export function checkProviderOptions(title: string, options: object, ours: readonly string[] = []): void {
  const option = Object.keys(options).find((name) => NEVER.test(name) || ours.includes(name));
  if (option === undefined) return;
  throw new InputError(
    `${JSON.stringify(option)} cannot be set at ${title}: research sets it itself`,
    "Leave it out, or use --model, --schema or --after.",
  );
}

/** Builds the request that reads the state of `requestId` with a GET below `path`, or stops it with a POST to `/cancel`. */
export function buildStatusOrStopRequest(
  path: string,
  operation: Operation,
  requestId: string,
): DialectRequest {
  const at = `${path}/${encodeURIComponent(requestId)}`;
  if (operation === "stop") return { method: "POST", path: `${at}/cancel`, json: false };
  return { method: "GET", path: at, json: false };
}

/** JSON Schema keywords that the strict mode of structured outputs does not support. */
const OUTSIDE =
  /^(?:allOf|oneOf|not|if|then|else|default|patternProperties|propertyNames|dependent(?:Required|Schemas)|unevaluated(?:Items|Properties)|contains|(?:min|max)(?:Contains|Properties)|uniqueItems|prefixItems)$/;
/** JSON Schema keywords whose value maps names to schemas. */
const NAMED = ["properties", "$defs", "definitions"];

/** Throws InputError with the keyword if strict mode does not accept the schema. Does not check the depth, whose limit differs by model. */
export function checkStrictSchema(title: string, schema: JsonSchema): void {
  if (schema.type !== "object") throw createSchemaError(title, "type", "the top level must be an object");
  checkStrictSubschema(title, schema);
}

function checkStrictSubschema(title: string, part: unknown): void {
  if (Array.isArray(part)) for (const child of part) checkStrictSubschema(title, child);
  if (typeof part !== "object" || part === null || Array.isArray(part)) return;
  const schema = part as JsonSchema;
  const keyword = Object.keys(schema).find((name) => OUTSIDE.test(name));
  if (keyword) throw createSchemaError(title, keyword, "it is not supported there");
  const properties = Object.keys(schema.properties ?? {});
  if (schema.type === "object" || properties.length > 0) {
    if (schema.additionalProperties !== false)
      throw createSchemaError(title, "additionalProperties", "each object must set it to false");
    const required = Array.isArray(schema.required) ? schema.required : [];
    const optional = properties.find((name) => !required.includes(name));
    if (optional !== undefined)
      throw createSchemaError(
        title,
        "required",
        `it must name each property, but lacks ${JSON.stringify(optional)}`,
      );
  }
  for (const name of NAMED)
    for (const child of Object.values(schema[name] ?? {})) checkStrictSubschema(title, child);
  for (const name of ["items", "anyOf"]) checkStrictSubschema(title, schema[name]);
}

/** Creates the error for a schema that the provider would refuse because of `keyword`. */
export function createSchemaError(title: string, keyword: string, why: string): InputError {
  return new InputError(
    `${title} does not take this schema: ${JSON.stringify(keyword)}: ${why}`,
    "Change the schema, or ask without one.",
  );
}
