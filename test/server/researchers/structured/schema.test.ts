import { describe, expect, it } from "vitest";
import { ResearchFailure } from "../../../../src/server/researchers/researcher.js";
import {
  allowed,
  descriptionOf,
  propertiesOf,
  SchemaReader,
} from "../../../../src/server/researchers/structured/schema.js";

const size = { type: "integer", title: "Size" };
const root = {
  $defs: {
    size,
    "a/b": { const: 1 },
    "a~b": { const: 2 },
    "a b": { const: 3 },
    part: { properties: { a: {} } },
  },
};
const views = (schema: unknown, whole: Record<string, unknown> = root) =>
  new SchemaReader(whole).views(schema);
const schemas = (schema: unknown) => views(schema).map((view) => view.schema);

describe("a schema asks for", () => {
  it.each<[string, unknown, object[]]>([
    ["nothing in particular", true, [{}]],
    ["nothing that can be", false, []],
    [
      "what it refers to, and what it says itself",
      { $ref: "#/$defs/size", minimum: 1 },
      [{ ...size, minimum: 1 }],
    ],
    [
      "one of what stands beside a reference",
      { $ref: "#/$defs/size", anyOf: [{ minimum: 1 }, { maximum: 0 }] },
      [
        { ...size, minimum: 1 },
        { ...size, maximum: 0 },
      ],
    ],
    ["a name with a slash", { $ref: "#/$defs/a~1b" }, [{ const: 1 }]],
    ["a name with a tilde", { $ref: "#/$defs/a~0b" }, [{ const: 2 }]],
    ["a name with a blank", { $ref: "#/$defs/a%20b" }, [{ const: 3 }]],
    ["nothing that is not there", { $ref: "#/$defs/none/at/all" }, [{}]],
    [
      "all of its parts, and what it says itself",
      {
        allOf: [{ $ref: "#/$defs/part" }, { properties: { b: {} }, required: ["b"] }, { required: ["a"] }],
        title: "T",
      },
      [{ properties: { a: {}, b: {} }, required: ["b", "a"], title: "T" }],
    ],
    [
      "all of its parts with one of several",
      { allOf: [{ title: "T" }], oneOf: [{ minimum: 1 }, { $ref: "#/$defs/size" }] },
      [
        { title: "T", minimum: 1 },
        { ...size, title: "T" },
      ],
    ],
    [
      "one of several, each with what it says itself",
      { description: "D", anyOf: [{ $ref: "#/$defs/size", minimum: 1 }, { type: "null" }] },
      [
        { ...size, minimum: 1, description: "D" },
        { type: "null", description: "D" },
      ],
    ],
  ])("%s", (_name, schema, expected) => {
    expect(schemas(schema)).toEqual(expected);
  });

  it.each<[object, string, boolean]>([
    [{}, "string", false],
    [{ properties: {} }, "object", false],
    [{ items: {} }, "array", false],
    [{ type: "integer" }, "integer", false],
    [{ type: ["null", "number"] }, "number", true],
    [{ type: "null" }, "null", true],
    [{ type: ["something"] }, "string", false],
  ])("%j: a value of the type %s, or null: %j", (schema, type, nullable) => {
    expect(views(schema)).toEqual([{ schema, type, nullable }]);
  });
});

describe("a schema has an end:", () => {
  const choice = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({})) });
  const chain = (count: number) => {
    const links = Array.from({ length: count }, (_, i) => [`a${i}`, { $ref: `#/$defs/a${i + 1}` }]);
    return { $defs: Object.fromEntries([...links, [`a${count}`, {}]]) };
  };

  it("a thousand parts", () => {
    expect(views(choice(999))).toHaveLength(999);
    expect(() => views(choice(1_000))).toThrow(ResearchFailure);
  });

  it("sixteen references one after the other", () => {
    expect(views({ $ref: "#/$defs/a1" }, chain(16))).toHaveLength(1);
    expect(() => views({ $ref: "#/$defs/a0" }, chain(16))).toThrow(ResearchFailure);
  });
});

it("properties have a name, a schema and whether they must be there", () => {
  expect(propertiesOf({ properties: { a: size, b: true }, required: ["b"] })).toEqual([
    { name: "a", schema: size, required: false },
    { name: "b", schema: true, required: true },
  ]);
  expect(propertiesOf({ properties: { a: size }, required: "a" })).toMatchObject([{ required: false }]);
  expect(propertiesOf({ properties: [size] })).toMatchObject([]);
});

it.each([
  [{ title: "T", description: "D" }, "T D"],
  [{ description: "D" }, "D"],
  [{ title: 1 }, ""],
  [true, ""],
])("%j says of itself %j", (schema, expected) => {
  expect(descriptionOf(schema)).toBe(expected);
});

it.each([
  [{ const: null, enum: [1] }, [null]],
  [{ enum: [1, "a"] }, [1, "a"]],
  [{}, undefined],
])("%j permits %j", (schema, expected) => {
  expect(allowed(schema)).toEqual(expected);
});
