import { expect, test } from "vitest";
import { definitions, foldLines } from "../../../src/cli/help/topics.js";

test.each([
  ["a b", 0, "a b"],
  [`${"x".repeat(40)} ${"y".repeat(39)}`, 0, `${"x".repeat(40)} ${"y".repeat(39)}`],
  [`${"x".repeat(40)} ${"y".repeat(40)}`, 0, `${"x".repeat(40)}\n${"y".repeat(40)}`],
  [`${"x".repeat(40)} ${"y".repeat(38)}`, 2, `${"x".repeat(40)}\n  ${"y".repeat(38)}`],
  [`a ${"x".repeat(90)} b`, 0, `a\n${"x".repeat(90)}\nb`],
])("%j, %i columns in", (text, indent, expected) => {
  expect(foldLines(text, indent)).toBe(expected);
});

test("explanations stand in one column", () => {
  expect(
    definitions([
      ["a", "one"],
      ["long", "two"],
    ]),
  ).toBe("  a     one\n  long  two\n");
});
