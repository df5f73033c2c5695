import { expect, test } from "vitest";
import { formatDefinitions, TOPICS } from "../../../src/cli/help/topics.js";
import { wrapAtWords } from "../../../src/core/text/text-width.js";

test("explanations stand in one column", () => {
  expect(
    formatDefinitions([
      ["a", "one"],
      ["long", "two"],
    ]),
  ).toBe("  a     one\n  long  two\n");
});

test.each(TOPICS)("$name fits 60 columns", ({ text }) => {
  const narrow = wrapAtWords(text, 60);
  expect(narrow.split(/\s+/)).toEqual(text.split(/\s+/));
  expect(Math.max(...narrow.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
});
