import { expect, it } from "vitest";
import { numbersIn, particular } from "../../../../src/server/researchers/structured/literals.js";

it.each([
  ["It holds 1,600 columns and 12 rows.", [1600, 12]],
  ["TCP 80 [19]", [80]],
  ["See Table 8.2 and section 5, version 15.", []],
  ["v1.2.3, 2024-03-05, 10:30, a4, #7, §8", []],
  ["The default is three; -5 is not.", [3, -5]],
  ["128MB", [128]],
  ["5000 (5 seconds)", [5000, 5]],
])("numbers of %s", (text, expected) => {
  expect(numbersIn(text).map(({ value }) => value)).toEqual(expected);
});

it.each([
  ["released on March 5, 2024.", { format: "date" }, "2024-03-05"],
  ["released on 5 March 2024.", { format: "date" }, "2024-03-05"],
  ["write to help@example.org.", { format: "email" }, "help@example.org"],
  ["see https://example.org/a.", { format: "uri" }, "https://example.org/a"],
  ["sends SIGTERM to it", { pattern: "SIG[A-Z]+" }, "SIGTERM"],
  ["nothing", { format: "date" }, undefined],
])("%s", (text, schema, expected) => {
  expect(particular(text, schema)).toBe(expected);
});
