import { expect, it } from "vitest";
import { hasNumber, normalizedNumbers } from "../../../src/reader/matching/numbers.js";

it.each<[string, string[]]>([
  ["at most 1,600 columns", ["1600"]],
  ["1,2 or 3", ["1", "2", "3"]],
  ["0.50, .5 and 2.0", ["0.50", "0.5", "2"]],
  ["12.0 of 300.00", ["12", "300"]],
  ["version 2.10.0 of 2024-05-01", ["2.10.0", "2024", "5", "1"]],
  ["from -5 to −3, or 1-9", ["-5", "-3", "1", "9"]],
  ["twenty-five of four thousand", ["25", "4", "1000"]],
  ["one minute, and one of them", ["1"]],
  ["sha256 takes ２ bytes", ["256", "2"]],
  ["nobody knows", []],
  ["007 at -.5 to -2.00 and 10.0.0.1", ["7", "-0.5", "-2", "10.0.0.1"]],
  ["ninety nine, sixty-one, and twenty-zero", ["99", "61", "20", "0"]],
  ["a dozen of 1,234,567 and 1,23", ["12", "1234567", "1", "23"]],
])("%s", (text, expected) => {
  expect([...normalizedNumbers(text)].sort()).toEqual([...expected].sort());
});

it("a JSON number stands in a text by its value", () => {
  expect(hasNumber("It costs $1.50.", 1.5)).toBe(true);
  expect(hasNumber("It has 1,600 columns.", 1600)).toBe(true);
  expect(hasNumber("It has four threads.", 4)).toBe(true);
  expect(hasNumber("It has 16 threads.", 6)).toBe(false);
  expect(hasNumber("It has -5 of 10.", -5)).toBe(true);
  expect(hasNumber("It is 9007199254740993.", JSON.parse("9007199254740993"))).toBe(false);
  expect(hasNumber("It has 100 threads.", 1)).toBe(false);
  expect(hasNumber("It is version 2.10.0.", 2.1)).toBe(false);
  expect(hasNumber("It is 12.500.", 12.5)).toBe(true);
  expect(hasNumber("It is 1.050.", 1.05)).toBe(true);
});
