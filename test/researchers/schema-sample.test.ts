import { expect, test } from "vitest";
import { checkValue } from "../../src/core/json-schema/check-in-thread.js";
import { buildSchemaSample } from "../../src/researchers/schema-sample.js";

test.each<[object, unknown]>([
  [{ type: "string" }, "sample"],
  [{ type: ["null", "string"] }, null],
  [{ type: "integer" }, 1],
  [{ type: "number" }, 1],
  [{ type: "boolean" }, true],
  [{}, "sample"],
  [{ const: null, enum: [1, null] }, null],
  [{ enum: ["b", "c"], default: "c" }, "b"],
  [{ type: "string", default: "", examples: ["x"] }, ""],
  [{ type: "string", pattern: "^[A-Z]{2}$", examples: ["AB"] }, "AB"],
  [{ type: "string", examples: [] }, "sample"],
  [{ type: "array" }, []],
  [{ items: { type: "null" } }, [null]],
  [{ type: "array", items: true }, ["sample"]],
  [
    { type: "object", required: ["a"], properties: { a: { type: "integer" }, b: { type: "string" } } },
    { a: 1 },
  ],
  [{ properties: { a: { type: "integer" } } }, {}],
  [
    { required: ["a", "__proto__"], properties: { a: { enum: [2] } } },
    JSON.parse('{"a":2,"__proto__":"sample"}'),
  ],
])("%j has a sample that fits it", async (schema, sample) => {
  expect(buildSchemaSample(schema)).toStrictEqual(sample);
  expect(await checkValue(schema as Record<string, unknown>, JSON.stringify(sample))).toBeUndefined();
});

// What the sample is not made of, so that it does not fit: --answers FILE gives a result.
test.each<[object]>([
  [{ type: "string", pattern: "^[A-Z]{2}$" }],
  [{ type: "string", format: "date" }],
  [{ type: "string", minLength: 8 }],
  [{ type: "integer", minimum: 4 }],
  [{ type: "array", minItems: 2, items: { type: "string" } }],
  [{ $ref: "#/$defs/day", $defs: { day: { type: "integer" } } }],
  [{ anyOf: [{ type: "null" }, { type: "integer" }] }],
  [{ allOf: [{ type: "integer" }] }],
])("%j has none that does", async (schema) => {
  const sample = buildSchemaSample(schema);
  expect(await checkValue(schema as Record<string, unknown>, JSON.stringify(sample))).toBeDefined();
});
