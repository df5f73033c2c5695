import { isObject } from "../../../core/json/exact-json.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";
import type { ReplyReading } from "./model-session.js";

/** The form of a part of a reply: a strict JSON schema for the model, and a more lenient reader. */
export interface Shape<T> {
  schema: JsonSchema;
  /** Reads a value; undefined if it does not have the form. */
  read(value: unknown): T | undefined;
}
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

export const text: Shape<string> = {
  schema: { type: "string" },
  read: (value) => (typeof value === "string" ? value : undefined),
};
/** An integer. Also reads one within text, such as `Source 3`. */
export const integer: Shape<number> = {
  schema: { type: "integer" },
  read: (value) => (typeof value === "number" ? value : text.read(value)?.match(/\d+/)?.map(Number)[0]),
};

/** Defines one of several words. Accepts any case and separators, and reads any other word as `other`. */
export function defineWord<W extends string>(words: readonly W[], other?: W): Shape<W> {
  return {
    schema: { type: "string", enum: [...words] },
    read: (value) =>
      words.find((candidate) => candidate === text.read(value)?.toLowerCase().replace(/\W+/g, "_")) ?? other,
  };
}

/** Defines a list. Reads a single value as a list of one, and skips invalid items. */
export function defineList<T>(of: Shape<T>, most = Number.POSITIVE_INFINITY): Shape<T[]> {
  return {
    schema: { type: "array", items: of.schema },
    read: (value) =>
      [value ?? []]
        .flat()
        .flatMap((part) => of.read(part) ?? [])
        .slice(0, most),
  };
}

/** Defines an object. Reads it if all its fields are valid. */
export function defineObject<F extends Record<string, Shape<unknown>>>(
  fields: F,
): Shape<{ [N in keyof F]: ValueOf<F[N]> }> {
  const entries = Object.entries(fields);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
      required: Object.keys(fields),
      additionalProperties: false,
    },
    read(value) {
      if (!isObject(value)) return undefined;
      const read = entries.map(([name, shape]) => [name, shape.read(value[name])]);
      return read.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(read);
    },
  };
}

/** Reads a reply that must contain the list `name`. Also accepts a bare list. */
export function readListReply<T>(shape: Shape<T>, name: string, reply: unknown): ReplyReading<T> {
  const whole = Array.isArray(reply) ? { [name]: reply } : reply;
  const value = isObject(whole) && Array.isArray(whole[name]) ? shape.read(whole) : undefined;
  return value === undefined ? { wrong: `"${name}" is not a list` } : { value };
}
