import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import {
  createWholeNumberParser,
  parseDurationFlag,
  parsePositiveDuration,
} from "../../../src/cli/commands/flag-values.js";

test.each([
  [parseDurationFlag, "90", 90_000],
  [parseDurationFlag, "0", 0],
  [parseDurationFlag, "soon", undefined],
  [parsePositiveDuration, "1ms", 1],
  [parsePositiveDuration, "0", undefined],
  [parsePositiveDuration, "0ms", undefined],
  [parsePositiveDuration, "x", undefined],
  [createWholeNumberParser(1), "1", 1],
  [createWholeNumberParser(1), "999999999", 999_999_999],
  [createWholeNumberParser(0), "0", 0],
  [createWholeNumberParser(1), "0", undefined],
  [createWholeNumberParser(2), "1", undefined],
  [createWholeNumberParser(1), "1.5", undefined],
  [createWholeNumberParser(1), "1e3", undefined],
  [createWholeNumberParser(1), "-1", undefined],
  [createWholeNumberParser(1), "", undefined],
  [createWholeNumberParser(1), "1000000000", undefined],
])("%o of %j is %s", (parse, text, value) => {
  if (value === undefined) expect(() => parse(text)).toThrow(InvalidArgumentError);
  else expect(parse(text)).toBe(value);
});

test("an invalid number says which ones are valid", () => {
  expect(() => createWholeNumberParser(3)("2")).toThrow("It must be a whole number, 3 or more.");
});
