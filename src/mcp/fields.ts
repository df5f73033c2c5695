import { isObject } from "../json/is-object.js";
import type { JsonObject } from "./output-schema.js";

/** One argument of a tool: as JSON Schema for a client, and as the check of what the client sends. */
export interface Field<T = unknown> {
  json: JsonObject;
  /** What fits, after the argument's name: "must be true or false". */
  must: string;
  fits(value: unknown): boolean;
  /** The type of a value that fits, for the compiler only. */
  type?: T;
  isOptional: boolean;
  /** Whether it is offered only where results may be written to a folder. */
  needsFolder?: boolean;
}

export type Fields = Readonly<Record<string, Field>>;

/** The arguments that fit. */
export type Arguments<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<infer T> ? T : never;
};

/** The most ids that one call takes. */
const MOST_IDS = 100;

/** A text that is not blank. */
export const text = (description: string): Field<string> => ({
  json: { type: "string", pattern: "\\S", description },
  must: "must be a text that is not blank",
  fits: (value) => typeof value === "string" && /\S/.test(value),
  isOptional: false,
});

/** A path below the folder that may be written to. */
export const savePath = (description: string): Field<string | undefined> => ({
  json: { type: "string", description },
  must: "must be a path, without control characters",
  fits: (value) => typeof value === "string" && /^\P{Cc}+$/u.test(value),
  isOptional: true,
  needsFolder: true,
});

export const flag = (description: string): Field<boolean> => ({
  json: { type: "boolean", description },
  must: "must be true or false",
  fits: (value) => typeof value === "boolean",
  isOptional: false,
});

export const object = (description: string): Field<Record<string, unknown>> => ({
  json: { type: "object", description },
  must: "must be an object",
  fits: isObject,
  isOptional: false,
});

/** A number within bounds, both included. */
export const number = (
  description: string,
  { least, most, isWhole }: { least: number; most: number; isWhole: boolean },
): Field<number> => ({
  json: { type: isWhole ? "integer" : "number", minimum: least, maximum: most, description },
  must: `must be a ${isWhole ? "whole " : ""}number from ${least} to ${most}`,
  fits: (value) =>
    typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isInteger(value)),
  isOptional: false,
});

export const texts = (description: string): Field<string[]> => ({
  json: { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_IDS, description },
  must: `must be a list of 1 to ${MOST_IDS} ids`,
  fits: (value) =>
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= MOST_IDS &&
    value.every((item) => typeof item === "string"),
  isOptional: false,
});

/** The same field, which may be left out. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, isOptional: true };
}

/** The JSON Schema of an object of fields. Nothing else may be in it: a mistyped name must not be passed over. */
export function inputSchema(fields: Fields, hasFolder: boolean) {
  const entries = Object.entries(fields).filter(([, { needsFolder }]) => hasFolder || !needsFolder);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object" as const,
    properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** What is wrong with arguments, a clause for each that does not fit. */
export function problemsOf(fields: Fields, given: Readonly<Record<string, unknown>>): string[] {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
  return [
    ...Object.entries(fields).flatMap(([name, { must, fits, isOptional }]) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (value === undefined) return isOptional ? [] : [`${name} is missing, it ${must}`];
      return fits(value) ? [] : [`${name} ${must}`];
    }),
    ...unknown.map(
      (name) => `${JSON.stringify(name)} is not one of its arguments (${Object.keys(fields).join(", ")})`,
    ),
  ];
}
