import { describe, expect, test } from "vitest";
import { columnsOf, unitsThatFit } from "../../src/text/width.js";

describe("columns of", () => {
  test.each([
    ["nothing", "", 0],
    ["ASCII", "report", 6],
    ["Latin with an accent of its own", "café", 4],
    ["Latin with a combining accent", "cafe\u0301", 4],
    ["Latin with the first of the combining accents", "cafe\u0300", 4],
    ["Chinese", "日本", 4],
    ["Hangul as syllables", "한국", 4],
    ["Hangul as letters", "한국".normalize("NFD"), 4],
    ["half-width Katakana", "ｱｲ", 2],
    ["an emoji", "🚀", 2],
    ["a character made an emoji", "❤\ufe0f", 2],
    ["joined emoji, at their widest", "👩\u200d🚀", 4],
    ["Arabic", "سلام", 4],
    ["Devanagari with its marks", "क\u094dष", 2],
    ["a no-break blank", "a\u00a0b", 3],
  ])("%s", (_name, text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });
});

describe("what fits", () => {
  test.each([
    ["all of it", "abc", 5, "abc"],
    ["a part", "abcdef", 3, "abc"],
    ["no half of a wide character", "日本", 3, "日"],
    ["marks with what they mark", "e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301"],
    ["no half of a surrogate pair", "🚀🚀", 2, "🚀"],
    ["at least one character", "日本", 1, "日"],
    ["nothing of nothing", "", 1, ""],
  ])("%s", (_name, text, columns, fitting) => {
    expect(text.slice(0, unitsThatFit(text, columns))).toBe(fitting);
  });
});
