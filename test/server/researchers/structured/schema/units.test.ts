import { expect, it } from "vitest";
import { unitAfter, unitsIn } from "../../../../../src/server/researchers/structured/schema/units.js";

it.each([
  ["timeout in milliseconds", ["ms"]],
  ["max bytes", ["byte"]],
  ["a b c", []],
])("units in %s", (text, expected) => {
  expect([...unitsIn(text)]).toEqual(expected);
});

it.each([
  [" seconds).", "s"],
  ["MB", "MB"],
  ["` (5 seconds)", undefined],
  [" apples", undefined],
])("the unit after a number: %s", (text, expected) => {
  expect(unitAfter(text)).toBe(expected);
});
