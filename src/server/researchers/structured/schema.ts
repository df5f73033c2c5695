import { isObject } from "../../../json/exact-json.js";
import type { JsonSchema } from "../../../protocol/conversation.js";
import { ResearchFailure } from "../researcher.js";

/** A part of a schema, ready to be filled. */
export interface View {
  schema: JsonSchema;
  type: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
  /** Whether null would do where nothing is found. */
  nullable: boolean;
}

/** More levels or parts than a text can fill: references may go in circles. */
export const MAX_DEPTH = 8;
const MAX_PARTS = 1_000;
const TYPES: readonly string[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** Why a schema of more levels or parts is not filled. */
export function tooLarge(): ResearchFailure {
  const limits = `more than ${MAX_DEPTH} levels or ${MAX_PARTS} parts with its references resolved`;
  return new ResearchFailure(`The schema cannot be filled: it has ${limits}.`);
}

/** Reads one schema, and throws a ResearchFailure where that would not end. */
export class SchemaReader {
  #parts = 0;
  constructor(readonly root: JsonSchema) {}

  /** What a (sub)schema asks for, its local references and `allOf` resolved; one for each alternative it offers. */
  views(schema: unknown, depth = 0): View[] {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS || depth > 2 * MAX_DEPTH) throw tooLarge();
    if (schema === true) return this.views({}, depth);
    if (!isObject(schema)) return [];
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    const inner = (parts: readonly unknown[]) => this.views(merged(parts.filter(isObject)), depth + 1);
    if (typeof $ref === "string") return inner([this.#target($ref), { ...own, allOf, anyOf, oneOf }]);
    if (Array.isArray(allOf)) {
      const parts = allOf.filter(isObject).flatMap((part) => [part, this.#target(part.$ref)]);
      return inner([...parts, { ...own, anyOf, oneOf }]);
    }
    const alternatives = anyOf ?? oneOf;
    if (Array.isArray(alternatives)) {
      return alternatives
        .filter(isObject)
        .flatMap((part) => inner([this.#target(part.$ref), { ...part, $ref: undefined }, own]));
    }
    return [{ schema: own, ...typeOf(own) }];
  }

  /** A local reference, as in `#/$defs/limit`; others were refused when the schema was compiled. */
  #target(ref: unknown): unknown {
    if (typeof ref !== "string") return {};
    let found: unknown = this.root;
    for (const step of ref.split("/").slice(1)) {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined;
    }
    return found;
  }
}

/** The properties of an object schema with whether each is required. */
export function propertiesOf(schema: JsonSchema): { name: string; schema: unknown; required: boolean }[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, part]) => ({
    name,
    schema: part,
    required: required.includes(name),
  }));
}

/** What a schema says about itself for people. */
export function descriptionOf(schema: unknown): string {
  if (!isObject(schema)) return "";
  return [schema.title, schema.description].filter((text) => typeof text === "string").join(" ");
}

/** The values a schema permits by name; undefined if it permits any. */
export function allowed(schema: JsonSchema): unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function typeOf(schema: JsonSchema): Pick<View, "type" | "nullable"> {
  const said = [schema.type].flat().filter((type) => typeof type === "string" && TYPES.includes(type));
  const type = said.find((name) => name !== "null") as View["type"] | undefined;
  const guess = isObject(schema.properties) ? "object" : schema.items === undefined ? "string" : "array";
  return { type: type ?? (said.length > 0 ? "null" : guess), nullable: said.includes("null") };
}

function merged(parts: readonly JsonSchema[]): JsonSchema {
  const whole: JsonSchema = {};
  for (const part of parts) {
    const properties = { ...(whole.properties as object), ...(part.properties as object) };
    const required = [...((whole.required as []) ?? []), ...((part.required as []) ?? [])];
    for (const [name, value] of Object.entries(part)) if (value !== undefined) whole[name] = value;
    if (Object.keys(properties).length > 0) whole.properties = properties;
    if (required.length > 0) whole.required = required;
  }
  return whole;
}
