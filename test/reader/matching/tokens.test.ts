import { expect, it } from "vitest";
import { removeMarkup } from "../../../src/reader/matching/quotations.js";
import { containsTokens, findOccurrences, tokenizeText } from "../../../src/reader/matching/tokens.js";

it.each<[string, string, string[]]>([
  ["marks of block quotes are left out", "> one\n  > two", ["one", "two"]],
  ["a comparison is not", "a > b", ["a", ">", "b"]],
  ["what is not seen goes", "so\u00adft zero\u200bwidth", ["soft", "zerowidth"]],
  ["every apostrophe is one", "don’t donʼt don't", ["don't", "don't", "don't"]],
  ["every minus is one, and a range has none", "−5 -5 1-9", ["-5", "-5", "1", "9"]],
  ["emphasis goes", "__init__ _a_ a_b ___", ["init", "a", "a_b"]],
  ["what negates or counts stays", "x != !y, $5 50% €", ["x", "!", "=", "!", "y", "$", "5", "50", "%"]],
  ["numbers keep their separators", "1,600 1.5 10:30 .5 v2", ["1,600", "1.5", "10:30", ".5", "v2"]],
])("%s", (_name, text, expected) => {
  expect(tokenizeText(text).map((token) => token.text)).toEqual(expected);
});

it("a token has its place", () => {
  expect(tokenizeText("a «bc».")[1]).toEqual({ text: "bc", start: 3, end: 5 });
});

it("markup is blanked, and all else stays where it was", () => {
  expect(removeMarkup('[it](x "t") <b>is</b> a < b')).toBe(`[it${" ".repeat(12)}is${" ".repeat(5)}a < b`);
  expect(removeMarkup("[it][1] is")).toBe("[it     is");
});

it("a part is found wherever it stands without a gap", () => {
  const find = (whole: string, part: string) => findOccurrences(tokenizeText(whole), tokenizeText(part));
  expect(find("a b a b", "A B")).toEqual([0, 2]);
  expect(find("a b", "a b a")).toEqual([]);
  expect(find("a b", "…")).toEqual([]);
  expect(containsTokens("a b c", "a c")).toBe(false);
  expect(containsTokens("a b c", "b, c")).toBe(true);
});
