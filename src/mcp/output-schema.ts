/** A value of JSON. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** The JSON Schema of what a tool gives. More members than it names may come. */
export type OutputSchema = { type: "object"; properties: JsonObject };

export const TEXT = { type: "string" };
export const TEXT_OR_NULL = { type: ["string", "null"] };
export const COUNT = { type: "integer" };
export const COUNT_OR_NULL = { type: ["integer", "null"] };
export const FLAG = { type: "boolean" };
/** The error object of the command line's JSON mode. */
const ERROR = { type: "object" };

/**
 * An object with these members. None is required: a client of the revision 2025-11-25 holds the content of an error
 * against the output schema, too, and a model pays for each word of tools/list.
 */
export function objectOf(properties: JsonObject): OutputSchema {
  return { type: "object", properties };
}

export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** The state of each request that was named, in the order given. */
export const STATES = {
  requests: listOf(objectOf({ request_id: TEXT, status: TEXT_OR_NULL, final: FLAG, error: ERROR })),
};

/** The schema of what a tool gives or of the error object in its place. */
export function orError({ properties }: OutputSchema): OutputSchema {
  return objectOf({ ...properties, error: ERROR });
}
