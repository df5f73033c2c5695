import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countFittingUnits, measureColumns, wrapAtWords } from "../../../src/core/text/text-width.js";

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
    expect(measureColumns(text)).toBe(columns);
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
    expect(text.slice(0, countFittingUnits(text, columns))).toBe(fitting);
  });
});

describe("folded", () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
  test.each<[string, string, number, number, string]>([
    ["what fits", "a b", 3, 0, "a b"],
    ["at words", "one two three", 8, 0, "one two\nthree"],
    ["what goes on is set off", "one two three", 8, 2, "one two\n  three"],
    [
      "each line for itself, as far in as it begins",
      "  one two\n  $ x y z\nthree",
      7,
      1,
      "  one\n  two\n  $ x y\n    z\nthree",
    ],
    [
      "beside its term",
      "  -o <path>  write it to a file",
      22,
      0,
      "  -o <path>  write it\n             to a file",
    ],
    ["a long term has no room beside it", "a-term-of-this-length  x y", 24, 0, "a-term-of-this-length  x\ny"],
    ["wide characters", "日本 日本 日本", 9, 0, "日本 日本\n日本"],
    ["a word that is wider than a line", `a ${"x".repeat(12)} b`, 5, 0, "a\nxxxxx\nxxxxx\nxx b"],
    ["such a word that is set off", "  日本日本日本", 8, 0, "  日本日\n  本日本"],
    ["colours take no room", `${red("one")} two three`, 7, 0, `${red("one")} two\nthree`],
    ["a command is one word", "go on with: research watch x", 20, 2, "go on with:\n  research watch x"],
    ["so is one between backticks", "now `a b c` then", 10, 0, "now\n`a b c`\nthen"],
    [
      "a command that is wider than a line is parted at its words",
      "x: research watch y",
      12,
      0,
      "x: research\nwatch y",
    ],
    ["a line with tabs is data", "x\tSTOPPED", 5, 0, "x\tSTOPPED"],
    ["a terminal narrower than the indent", "ab", 1, 2, "a\n  b"],
    ["an id that fits a line of its own", "id    0123456789abcdefg", 20, 0, "id\n0123456789abcdefg"],
  ])("%s", (_name, text, columns, hang, expected) => {
    expect(wrapAtWords(text, columns, hang)).toBe(expected);
  });

  test("no line of any text is wider, and no word is lost", () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 40 }), fc.integer({ min: 20, max: 90 }), (text, columns) => {
        const folded = wrapAtWords(text, columns, 2);
        for (const line of folded.split("\n")) expect(measureColumns(line)).toBeLessThanOrEqual(columns);
        expect(folded.split(/\s+/)).toEqual(text.split(/\s+/));
      }),
    );
  });
});
