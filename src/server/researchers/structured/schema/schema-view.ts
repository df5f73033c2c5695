import type { JsonSchema } from "../../../../protocol/conversation.js";

/** A part of a schema, ready to be filled. */
export interface View {
  schema: JsonSchema;
  type: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
  /** Whether null would do where nothing is found. */
  nullable: boolean;
}

const TYPES: readonly string[] = ["object", "array", "string", "number", "integer", "boolean", "null"];
/** References may go in circles; no real schema is nested this deep. */
const MAX_HOPS = 16;

/** What a (sub)schema asks for, its local references and `allOf` resolved; one for each alternative it offers. */
export function viewsOf(schema: unknown, root: JsonSchema, hops = 0): View[] {
  if (schema === true) return viewsOf({}, root, hops);
  if (!isSchema(schema) || hops > MAX_HOPS) return [];
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  if (typeof $ref === "string") return viewsOf(merged([target($ref, root), own]), root, hops + 1);
  if (Array.isArray(allOf)) {
    return viewsOf(
      merged([...allOf.flatMap((part) => deref(part, root)), { ...own, anyOf, oneOf }]),
      root,
      hops + 1,
    );
  }
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) {
    return alternatives.flatMap((part) => viewsOf(merged([...deref(part, root), own]), root, hops + 1));
  }
  return [{ schema: own, ...typeOf(own) }];
}

/** The properties of an object schema with whether each is required. */
export function propertiesOf(schema: JsonSchema): { name: string; schema: unknown; required: boolean }[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isSchema(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, part]) => ({
    name,
    schema: part,
    required: required.includes(name),
  }));
}

/** What a schema says about itself for people. */
export function descriptionOf(schema: unknown): string {
  if (!isSchema(schema)) return "";
  return [schema.title, schema.description].filter((text) => typeof text === "string").join(" ");
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(schema: JsonSchema): Pick<View, "type" | "nullable"> {
  const said = [schema.type].flat().filter((type) => typeof type === "string" && TYPES.includes(type));
  const type = said.find((name) => name !== "null") as View["type"] | undefined;
  const guess = isSchema(schema.properties) ? "object" : schema.items === undefined ? "string" : "array";
  return { type: type ?? (said.length > 0 ? "null" : guess), nullable: said.includes("null") };
}

function deref(part: unknown, root: JsonSchema): JsonSchema[] {
  if (!isSchema(part)) return [];
  return typeof part.$ref === "string" ? [merged([target(part.$ref, root), part])] : [part];
}

/** A local reference, as in `#/$defs/limit`; others were refused when the schema was compiled. */
function target(ref: string, root: JsonSchema): JsonSchema {
  let found: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isSchema(found) || Array.isArray(found) ? Reflect.get(found, name) : undefined;
  }
  return isSchema(found) ? found : {};
}

function merged(parts: readonly JsonSchema[]): JsonSchema {
  const whole: JsonSchema = {};
  for (const part of parts) {
    const properties = { ...(whole.properties as object), ...(part.properties as object) };
    const required = [...((whole.required as []) ?? []), ...((part.required as []) ?? [])];
    const { $ref: _, ...rest } = part;
    Object.assign(whole, rest);
    if (Object.keys(properties).length > 0) whole.properties = properties;
    if (required.length > 0) whole.required = required;
  }
  for (const name of ["anyOf", "oneOf"]) if (whole[name] === undefined) Reflect.deleteProperty(whole, name);
  return whole;
}
