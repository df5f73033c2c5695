import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { duration, positiveDuration, wholeNumber } from "../../../src/cli/commands/flag-values.js";

test.each([
  [duration, "90", 90_000],
  [duration, "0", 0],
  [duration, "soon", undefined],
  [positiveDuration, "1ms", 1],
  [positiveDuration, "0", undefined],
  [positiveDuration, "0ms", undefined],
  [positiveDuration, "x", undefined],
  [wholeNumber(1), "1", 1],
  [wholeNumber(1), "999999999", 999_999_999],
  [wholeNumber(0), "0", 0],
  [wholeNumber(1), "0", undefined],
  [wholeNumber(2), "1", undefined],
  [wholeNumber(1), "1.5", undefined],
  [wholeNumber(1), "1e3", undefined],
  [wholeNumber(1), "-1", undefined],
  [wholeNumber(1), "", undefined],
  [wholeNumber(1), "1000000000", undefined],
])("%o of %j is %s", (parse, text, value) => {
  if (value === undefined) expect(() => parse(text)).toThrow(InvalidArgumentError);
  else expect(parse(text)).toBe(value);
});

test("an invalid number says which ones are valid", () => {
  expect(() => wholeNumber(3)("2")).toThrow("It must be a whole number, 3 or more.");
});
