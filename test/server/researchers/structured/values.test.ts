import { expect, it } from "vitest";
import { numbersIn, particular, valueAt } from "../../../../src/server/researchers/structured/values.js";

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

it.each([
  ["`5000` (5 seconds)", { type: "integer" }, "ms", "in milliseconds", 5000],
  ["5 seconds", { type: "integer" }, "ms", "in milliseconds", undefined],
  ["5000", { type: "integer" }, "ms", "", undefined],
  ["about 5000", { type: "integer" }, "", "", undefined],
  ["2.5", { type: "integer" }, "", "", undefined],
  ["`'utf8'`. More", { type: "string" }, "", "", "utf8"],
  ["utf8", { type: "string" }, "", "", undefined],
  ["read committed.", { type: "string", enum: ["read", "read committed"] }, "", "", "read committed"],
  ["`false`.", { type: "boolean" }, "", "", false],
])("the value that %s begins with", (text, schema, unit, around, expected) => {
  expect(valueAt(text, view(schema), new Set(unit === "" ? [] : [unit]), around)).toBe(expected);
});

it.each([
  ["since 2024-03-05.", { format: "date" }, "2024-03-05"],
  ["write to help@example.org.", { format: "email" }, "help@example.org"],
  ["sends SIGTERM to it", { pattern: "SIG[A-Z]+" }, "SIGTERM"],
  ["longer than five", { maxLength: 5 }, undefined],
  ["nothing", { format: "date" }, undefined],
])("%s", (text, schema, expected) => {
  expect(particular(text, schema)).toBe(expected);
});
