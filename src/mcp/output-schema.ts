/** A value of JSON. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** The JSON Schema of what a tool gives. More members than it names may come. */
export type OutputSchema = {
  type: "object";
  properties: JsonObject;
  required: string[];
};

export const TEXT = { type: "string" };
export const TEXT_OR_NULL = { type: ["string", "null"] };
export const COUNT = { type: "integer", minimum: 0 };
export const COUNT_OR_NULL = { type: ["integer", "null"], minimum: 0 };
export const FLAG = { type: "boolean" };

/** An object whose members are all there, but for those in `optional`. */
export function objectOf(properties: JsonObject, optional: JsonObject = {}): OutputSchema {
  return {
    type: "object",
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
  };
}

export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** The error object of one request among several. */
export const ERROR = objectOf({ code: TEXT, message: TEXT, exit_code: COUNT });

/** The state of each request that was named, in the order given. */
export const STATES = {
  requests: listOf(objectOf({ request_id: TEXT, status: TEXT_OR_NULL, final: FLAG }, { error: ERROR })),
};

/**
 * The schema of what a tool gives or of the error object in its place: clients of the revision 2025-11-25 hold the
 * content of an error against the output schema, too.
 */
export function orError({ type, properties, required }: OutputSchema) {
  const whole = { ...properties, error: ERROR };
  return { type, properties: whole, anyOf: [{ required }, { required: ["error"] }] };
}
