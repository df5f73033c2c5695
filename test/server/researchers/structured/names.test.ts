import { expect, it } from "vitest";
import { rolesAsked, saysRole, unitsIn } from "../../../../src/server/researchers/structured/names.js";

it.each([
  ["timeout in milliseconds", ["ms"]],
  ["max bytes", ["byte"]],
  ["a b c", []],
])("units in %s", (text, expected) => {
  expect([...unitsIn(text)]).toEqual(expected);
});

it.each([
  ["What is the default port?", "port", ["default"]],
  ["How many columns may a table have at most?", "columns", ["maximum"]],
  ["What is max_size set to?", "max_size", []],
  ["How many apples are there?", "apples", []],
] as const)("%s asks for %j", (prompt, name, expected) => {
  expect(rolesAsked(prompt, name, "")).toEqual(expected);
});

it("the title of a column says what its cells are", () => {
  expect(saysRole("Upper Limit", ["maximum"])).toBe(true);
  expect(saysRole("Upper Limit", ["default"])).toBe(false);
  expect(saysRole("Upper Limit", ["default", "maximum"])).toBe(true);
});
