import { isObject } from "../../../core/json/exact-json.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";
import type { ReplyReading } from "./session.js";

/** What a part of a reply has to be: its JSON schema, and how it is read, which is more lenient. */
export interface Shape<T> {
  schema: JsonSchema;
  /** Undefined for what cannot be read. */
  read(value: unknown): T | undefined;
}
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

export const text: Shape<string> = {
  schema: { type: "string" },
  read: (value) => (typeof value === "string" ? value : undefined),
};
/** Also one that a model wrote as text, as in `Source 3`. */
export const integer: Shape<number> = {
  schema: { type: "integer" },
  read: (value) => (typeof value === "number" ? value : text.read(value)?.match(/\d+/)?.map(Number)[0]),
};

/** One of some words, whatever their case and what stands between their parts; `other` stands for everything else. */
export function defineWord<W extends string>(words: readonly W[], other?: W): Shape<W> {
  return {
    schema: { type: "string", enum: [...words] },
    read: (value) =>
      words.find((candidate) => candidate === text.read(value)?.toLowerCase().replace(/\W+/g, "_")) ?? other,
  };
}

/** A value alone stands for a list of one; what cannot be read is left out. */
export function list<T>(of: Shape<T>, most = Number.POSITIVE_INFINITY): Shape<T[]> {
  return {
    schema: { type: "array", items: of.schema },
    read: (value) =>
      [value ?? []]
        .flat()
        .flatMap((part) => of.read(part) ?? [])
        .slice(0, most),
  };
}

/** An object cannot be read if a field of it cannot. */
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

/** Reads a reply that has to have the list `name`; a bare list is taken for that one. */
export function readListed<T>(shape: Shape<T>, name: string, reply: unknown): ReplyReading<T> {
  const whole = Array.isArray(reply) ? { [name]: reply } : reply;
  const value = isObject(whole) && Array.isArray(whole[name]) ? shape.read(whole) : undefined;
  return value === undefined ? { wrong: `"${name}" is not a list` } : { value };
}
