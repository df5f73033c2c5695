import { stringifyExact } from "../../core/json/exact-json.js";
import type { CreateBody, JsonSchema, Operation } from "../../core/protocol/conversation.js";
import { type DialectRequest, InputError } from "./dialect.js";

/** Fields that would change when or where an answer comes, at any provider. */
const NEVER = /^(?:stream|background|store|n|webhook.*)$/;

/** What providers have in common; polls are 10 a second (contract §9). */
export const PROVIDER = { statusIsResult: true, mayLag: true, betweenPollsMs: 100 } as const;

/**
 * The create of a provider: `ours` and the options of the user. Throws InputError for structured output without a schema,
 * and for an option that we set ourselves, also where `ours` has it as undefined.
 */
export function createAt(
  title: string,
  path: string,
  { options = {}, structured_output, output_schema }: Partial<CreateBody>,
  ours: Readonly<Record<string, unknown>>,
): DialectRequest {
  if (structured_output && !output_schema)
    throw new InputError(`${title} gives no structured output without a schema`, "Give one with --schema.");
  checkOptions(title, options, Object.keys(ours));
  return { method: "POST", path, json: true, body: stringifyExact({ ...ours, ...options }) };
}

/** Throws InputError for an option that is one of `ours`, or that no provider may be sent. */
export function checkOptions(title: string, options: object, ours: readonly string[] = []): void {
  const taken = Object.keys(options).find((name) => NEVER.test(name) || ours.includes(name));
  if (taken === undefined) return;
  throw new InputError(
    `${JSON.stringify(taken)} cannot be set at ${title}: research sets it itself`,
    "Leave it out. --model, --schema and --after set what they are for.",
  );
}

/** The request of an operation on what stands under `path`, where a stop is a cancel. */
export function buildRequestAt(path: string, operation: Operation, requestId: string): DialectRequest {
  const at = `${path}/${encodeURIComponent(requestId)}`;
  if (operation === "stop") return { method: "POST", path: `${at}/cancel`, json: false };
  return { method: "GET", path: at, json: false };
}

/** Keywords that are no part of structured outputs in strict mode. */
const OUTSIDE =
  /^(?:allOf|oneOf|not|if|then|else|default|patternProperties|propertyNames|dependent(?:Required|Schemas)|unevaluated(?:Items|Properties)|contains|(?:min|max)(?:Contains|Properties)|uniqueItems|prefixItems)$/;
/** Keywords whose members are schemas by name. */
const NAMED = ["properties", "$defs", "definitions"];

/** Throws InputError, with the keyword, for a schema outside what strict mode takes. Limits on depth differ by model. */
export function checkStrict(title: string, schema: JsonSchema): void {
  if (schema.type !== "object") throw createSchemaError(title, "type", "the top level must be an object");
  checkPart(title, schema);
}

function checkPart(title: string, part: unknown): void {
  if (Array.isArray(part)) for (const child of part) checkPart(title, child);
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
        `it must name each property, and lacks ${JSON.stringify(optional)}`,
      );
  }
  for (const name of NAMED) for (const child of Object.values(schema[name] ?? {})) checkPart(title, child);
  for (const name of ["items", "anyOf"]) checkPart(title, schema[name]);
}

/** A schema that the provider would refuse, by a keyword of it. */
export function createSchemaError(title: string, keyword: string, why: string): InputError {
  return new InputError(
    `${title} does not take this schema: ${JSON.stringify(keyword)}: ${why}`,
    "Change the schema, or ask without one.",
  );
}
