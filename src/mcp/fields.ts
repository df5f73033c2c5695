import * as v from "valibot";
import type { JsonObject } from "./output-schema.js";

/** One argument of a tool: as JSON Schema for a client, and as the check of what the client sends. */
export interface Field<Check extends v.GenericSchema = v.GenericSchema> {
  json: JsonObject;
  check: Check;
  isOptional: boolean;
}

export type Fields = Readonly<Record<string, Field>>;

/** The arguments that fit. */
export type Arguments<F extends Fields> = v.InferOutput<
  v.StrictObjectSchema<{ [Name in keyof F]: F[Name]["check"] }, undefined>
>;

/** The most ids that one call takes. */
const MOST_IDS = 100;

function field<Check extends v.GenericSchema>(
  description: string,
  json: JsonObject,
  check: Check,
): Field<Check> {
  return { json: { ...json, description }, check, isOptional: false };
}

/** A text that is not blank. */
export const text = (description: string) =>
  field(description, { type: "string", pattern: "\\S" }, v.pipe(v.string(), v.regex(/\S/)));

export const flag = (description: string) => field(description, { type: "boolean" }, v.boolean());

export const object = (description: string) =>
  field(
    description,
    { type: "object" },
    v.custom<Record<string, unknown>>(
      (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    ),
  );

/** A number within bounds, both included. */
export const number = (
  description: string,
  { least, most, isWhole }: { least: number; most: number; isWhole: boolean },
) =>
  field(
    description,
    { type: isWhole ? "integer" : "number", minimum: least, maximum: most },
    v.pipe(
      v.number(),
      v.check((value: number) => !isWhole || Number.isSafeInteger(value)),
      v.minValue(least),
      v.maxValue(most),
    ),
  );

export const texts = (description: string) =>
  field(
    description,
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_IDS },
    v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(MOST_IDS)),
  );

/** The same field, which may be left out. */
export function optional<Check extends v.GenericSchema>({ json, check }: Field<Check>) {
  return { json, check: v.optional(check), isOptional: true };
}

/** The JSON Schema of an object of fields. Nothing else may be in it: a mistyped name must not be passed over. */
export function inputSchema(fields: Fields) {
  const entries = Object.entries(fields);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object" as const,
    properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The arguments as the fields have them, or what is wrong with them. */
export function parseArguments<F extends Fields>(
  fields: F,
  given: unknown,
): { arguments: Arguments<F> } | { problem: string } {
  const checks = Object.fromEntries(Object.entries(fields).map(([name, { check }]) => [name, check]));
  const result = v.safeParse(v.strictObject(checks), given ?? {});
  if (result.success) return { arguments: result.output as Arguments<F> };
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  return { problem: path ? `${path}: ${issue.message}` : issue.message };
}
