import { expect, test } from "vitest";
import { describeError, shortenLine } from "../../../src/core/text/format-text.js";

test.each([
  ["a  b\n c ", 10, "a b c"],
  ["12345", 5, "12345"],
  ["123456", 5, "1234…"],
  ["12🌊56", 4, "12…"],
  ["12🌊567", 5, "12🌊…"],
])("%j on a line of %d is %j", (text, most, line) => {
  expect(shortenLine(text, most)).toBe(line);
});

test("what was thrown is said, whatever it is", () => {
  expect([new TypeError("m"), "text", undefined].map(describeError)).toEqual(["m", "text", "undefined"]);
});
