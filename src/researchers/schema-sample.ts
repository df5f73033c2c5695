import { isObject } from "../core/json/exact-json.js";

/** The sample of each type. Those of objects and arrays are built from their parts. */
const VALUES: Readonly<Record<string, unknown>> = {
  string: "sample",
  integer: 1,
  number: 1,
  boolean: true,
  null: null,
};

/**
 * Builds a value from a schema's `const`, `enum`, `default`, `examples`, types and required members. It ignores all other
 * keywords, so the value may not fit the schema. A list has one item.
 */
export function buildSchemaSample(schema: unknown): unknown {
  if (!isObject(schema)) return VALUES.string;
  if ("const" in schema) return schema.const;
  const values = [schema.enum, "default" in schema && [schema.default], schema.examples];
  const given = values.find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(given)) return given[0];
  const { properties, required, items } = schema;
  const type = [schema.type].flat()[0] ?? (properties || required ? "object" : items ? "array" : "string");
  if (type === "array") return items === undefined ? [] : [buildSchemaSample(items)];
  if (type !== "object") return VALUES[String(type)];
  const names = Array.isArray(required) ? required.map(String) : [];
  return Object.fromEntries(
    names.map((name) => [name, buildSchemaSample(isObject(properties) && properties[name])]),
  );
}
