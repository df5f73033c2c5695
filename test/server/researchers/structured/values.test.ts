import { expect, it } from "vitest";
import {
  cellValue,
  numbersIn,
  particular,
  valueAt,
} from "../../../../src/server/researchers/structured/values.js";

const view = (schema: Record<string, unknown>) => ({
  schema,
  type: schema.type as "integer",
  nullable: false,
});

it.each([
  ["It holds 1,600 columns and 12 rows.", [1600, 12]],
  ["See Table 8.2 and section 5, version 15.", []],
  ["v1.2.3, 2024-03-05, 10:30, a4, #7, §8", []],
  ["as cleanup(8) says, -5 is not", [-5]],
  ["at most 1024 * 1024, or 2 + 3", [1024, 3]],
  ["128MB", [128]],
])("numbers of %s", (text, expected) => {
  expect(numbersIn(text).map(({ value }) => value)).toEqual(expected);
});

it("a number is given with where it stands", () => {
  expect(numbersIn("at most 1,600 or 12")).toEqual([
    { value: 1600, start: 8, end: 13 },
    { value: 12, start: 17, end: 19 },
  ]);
});

it.each<[string, object, unknown]>([
  ["10 requests per hour", { type: "integer" }, 10],
  ["10 or 10", { type: "integer" }, 10],
  ["10 to 20", { type: "integer" }, undefined],
  ["2.5", { type: "integer" }, undefined],
  ["2.5", { type: "number" }, 2.5],
  ["custom", { type: "number" }, undefined],
  ["`yes`", { type: "boolean" }, true],
  ["✓", { type: "boolean" }, true],
  ["*No*", { type: "boolean" }, false],
  ["no", { type: "boolean" }, false],
  ["is no", { type: "boolean" }, undefined],
  ["not yet", { type: "boolean" }, undefined],
  ["yes, often", { type: "boolean" }, undefined],
  ["in no case", { type: "boolean" }, undefined],
  ["`a b`", { type: "string" }, "a b"],
  ["`a` or `b`", { type: "string" }, "`a` or `b`"],
  ["", { type: "string" }, undefined],
  ["Low", { type: "string", enum: ["low", "high"] }, "low"],
  ["lower", { type: "string", enum: ["low", "high"] }, undefined],
  ["Low", { const: "low", type: "string" }, "low"],
  ["a", { type: "object" }, undefined],
])("the cell %j, as %j, is %j", (cell, schema, expected) => {
  expect(cellValue(cell, view({ ...schema }))).toBe(expected);
});

it.each([
  ["`5000` (5 seconds)", { type: "integer" }, "ms", "in milliseconds", 5000],
  ["5 seconds", { type: "integer" }, "ms", "in milliseconds", undefined],
  ["5000", { type: "integer" }, "ms", "", undefined],
  ["5 ms", { type: "integer" }, "ms", "", 5],
  ["5 ms", { type: "integer" }, "", "", undefined],
  ["5 apples", { type: "integer" }, "", "", 5],
  ["5-second", { type: "integer" }, "s", "", 5],
  ["50%", { type: "integer" }, "%", "", 50],
  ["5000", { type: "integer" }, "ms", "in seconds", undefined],
  ['**("5")**', { type: "integer" }, "", "", 5],
  ["none", { type: "integer" }, "", "", undefined],
  ["2.5 m", { type: "number" }, "", "", 2.5],
  ["about 5000", { type: "integer" }, "", "", undefined],
  ["2.5", { type: "integer" }, "", "", undefined],
  ["`'utf8'`. More", { type: "string" }, "", "", "utf8"],
  ["utf8", { type: "string" }, "", "", undefined],
  ["“utf8” is it", { type: "string" }, "", "", "utf8"],
  ["‘utf8’ is it", { type: "string" }, "", "", "utf8"],
  ["(\"'utf8'\")", { type: "string" }, "", "", "utf8"],
  ["is `utf8`", { type: "string" }, "", "", undefined],
  ["`a 'b'`", { type: "string" }, "", "", "a 'b'"],
  ["`'a' b`", { type: "string" }, "", "", "'a' b"],
  ["`utf8`", { type: "string", pattern: "^x" }, "", "", undefined],
  ["`utf8`", { type: "object" }, "", "", undefined],
  ["now read", { type: "string", enum: ["read"] }, "", "", undefined],
  ["READ", { type: "string", enum: ["read"] }, "", "", "read"],
  ["reading", { type: "string", enum: ["read"] }, "", "", undefined],
  ["a.b", { type: "string", enum: ["a+b", "a.b"] }, "", "", "a.b"],
  ["axb", { type: "string", enum: ["a.b"] }, "", "", undefined],
  ["true", { type: "boolean" }, "", "", true],
  ["read committed.", { type: "string", enum: ["read", "read committed"] }, "", "", "read committed"],
  ["`false`.", { type: "boolean" }, "", "", false],
])("the value that %s begins with", (text, schema, unit, around, expected) => {
  expect(valueAt(text, view(schema), new Set(unit === "" ? [] : [unit]), around)).toBe(expected);
});

it.each([
  ["since 2024-03-05.", { format: "date" }, "2024-03-05"],
  ["write to help@example.org.", { format: "email" }, "help@example.org"],
  ["sends SIGTERM to it", { pattern: "SIG[A-Z]+" }, "SIGTERM"],
  ["at 2024-03-05T10:30:00.5+01:00 or so", { format: "date-time" }, "2024-03-05T10:30:00.5+01:00"],
  ["at 10:30:00Z", { format: "time" }, "10:30:00Z"],
  ["see https://a.test/b?c=1.", { format: "uri" }, "https://a.test/b?c=1"],
  ["is 123e4567-e89b-12d3-a456-426614174000.", { format: "uuid" }, "123e4567-e89b-12d3-a456-426614174000"],
  ["any text", { format: "hostname" }, "any text"],
  ["five!", { maxLength: 5 }, "five!"],
  ["longer than five", { maxLength: 5 }, undefined],
  ["nothing", { format: "date" }, undefined],
])("%s", (text, schema, expected) => {
  expect(particular(text, schema)).toBe(expected);
});
