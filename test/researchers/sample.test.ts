import { describe, expect, test } from "vitest";
import { checkValue } from "../../src/core/json-schema/check.js";
import { sampleOf } from "../../src/researchers/sample.js";

const text = (pattern: string, more = {}) => ({ type: "string", pattern, ...more });

describe("a sample fits", () => {
  test.each([
    [text("^[A-Z]{2}-\\d{4}$"), "AA-0000"],
    [text("^(foo|bar)+$", { minLength: 7 }), "foofoofoo"],
    [text("^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$"), "a@a.aa"],
    [text("^#?(?<hex>[0-9a-f]{6})$"), "aaaaaa"],
    [text("^\\p{Lu}\\p{Ll}+\\b$", { minLength: 5 }), "Aaaaa"],
    [text("[\\]]\\u0041\\u{41}\\x41日"), "]AAA日"],
    [text("^a{2,3}b*?c?(?!d)$"), "aa"],
    [text("x", { minLength: 3 }), "x.."],
    [{ exclusiveMinimum: 0.5, exclusiveMaximum: 0.6, type: "number" }, 0.55],
    [{ minItems: 3, type: "array", uniqueItems: true, items: { type: "integer", minimum: 4 } }, [4, 5, 6]],
    [{ minItems: 2, type: "array", uniqueItems: true, items: { enum: ["a", "b"] } }, ["a", "b"]],
    [{ minItems: 2, type: "array", uniqueItems: true, items: { type: "boolean" } }, [true, false]],
    [{ minItems: 2, type: "array", uniqueItems: true, items: { type: "string" } }, ["sample", "sample1"]],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "null" }], items: false }, ["sample", null]],
    [{ type: "string", format: "time" }, "12:00:00Z"],
  ])("%j", async (schema, sample) => {
    expect(sampleOf(schema)).toEqual(sample);
    expect(await checkValue(schema, JSON.stringify(sample))).toBeUndefined();
  });
});

const nested = (depth: number): object =>
  depth === 0 ? { type: "string" } : { type: "array", minItems: 1_000, items: nested(depth - 1) };
const members = [..."abcdefghij"];
const tree = {
  properties: Object.fromEntries(members.map((name) => [name, { $ref: "#" }])),
  required: members,
};

test.each([
  ["lists in lists", nested(3)],
  ["a schema that refers to itself", tree],
  ["long texts", { type: "array", minItems: 1_000, items: { type: "string", minLength: 10_000 } }],
  ["a pattern of many groups", text(`${"(".repeat(20_000)}a${")".repeat(20_000)}`)],
])("of %s none is made that would be too large", (_name, schema) => {
  expect(sampleOf(schema as Record<string, unknown>)).toBeUndefined();
});

test.each(["^(a)\\1$", "^\\cJ$", "^((a{999}){999}){999}$", "^(?=b)a$"])(
  "one that does not fit %j is made all the same, and is no error",
  (pattern) => {
    const sample = sampleOf(text(pattern));
    expect([typeof sample, new RegExp(pattern, "u").test(String(sample))]).toEqual(["string", false]);
  },
);
