import { describe, expect, test } from "vitest";
import {
  measureRuns,
  wrapRuns,
  wrapVerbatimText,
} from "../../../../src/core/markdown/terminal/wrap-lines.js";
import { measureColumns } from "../../../../src/core/text/text-width.js";

const wrapped = (text: string, columns: number) =>
  wrapRuns([{ text, look: 0 }], columns).map(({ runs }) => runs.map((run) => run.text).join(""));

describe("wrap", () => {
  test.each([
    ["nothing", "", 10, [""]],
    ["a line that fits", "ab cd", 5, ["ab cd"]],
    ["between words", "ab cd ef", 5, ["ab cd", "ef"]],
    ["blanks collapse", "  ab \t  cd  ", 10, ["ab cd"]],
    ["the author's line end", "ab\ncd", 10, ["ab", "cd"]],
    ["a no-break blank", "ab cd\u00a0ef", 6, ["ab", "cd\u00a0ef"]],
    ["a word wider than a line", "a bcdefghi j", 4, ["a", "bcde", "fghi", "j"]],
    ["Chinese breaks anywhere", "日本語日本語", 5, ["日本", "語日", "本語"]],
    ["but not before a full stop", "日本語。日", 6, ["日本", "語。日"]],
    ["nor after an opening bracket", "日本「語」", 6, ["日本", "「語」"]],
    ["Korean breaks between words", "한국어 한국어", 7, ["한국어", "한국어"]],
    [
      "marks stay with their letters",
      "e\u0301e\u0301e\u0301e\u0301",
      2,
      ["e\u0301e\u0301", "e\u0301e\u0301"],
    ],
  ])("%s", (_name, text, columns, lines) => {
    expect(wrapped(text, columns)).toEqual(lines);
  });

  test("a word made of several looks is one word", () => {
    const lines = wrapRuns(
      [
        { text: "ab c", look: 0 },
        { text: "d", look: 1 },
        { text: "e f", look: 0 },
      ],
      4,
    );
    expect(lines.map(({ runs }) => runs.map(({ text }) => text).join(""))).toEqual(["ab", "cde", "f"]);
  });
});

test("measure", () => {
  expect(measureRuns([{ text: "ab cdef g\nhi", look: 0 }])).toEqual({ least: 4, best: 9 });
  expect(measureRuns([{ text: "日本語", look: 0 }])).toEqual({ least: 2, best: 6 });
});

describe("wrapVerbatimText", () => {
  test.each([
    ["blanks stay", "  a   b", 10, ["  a   b"]],
    ["empty lines stay", "a\n\nb", 10, ["a", "", "b"]],
    ["tabs reach the next stop", "\ta\tb", 20, ["    a   b"]],
    ["a long line goes on at a blank", "ab cd ef", 6, ["ab cd", "ef"]],
    ["and where it has none", "abcdefgh", 5, ["abcde", "fgh"]],
    ["indentation is no place to break", "    abcdefgh", 8, ["    abcd", "efgh"]],
  ])("%s", (_name, text, columns, lines) => {
    const shown = wrapVerbatimText(text, 0, columns).map(({ runs }) => runs.map((run) => run.text).join(""));
    expect(shown).toEqual(lines);
  });
});

test("columns are counted as they are laid out", () => {
  const lines = wrapRuns([{ text: "日本語 report 🚀 cafe\u0301 ".repeat(20), look: 0 }], 17);
  for (const { runs, columns } of lines) {
    expect(columns).toBe(measureColumns(runs.map(({ text }) => text).join("")));
    expect(columns).toBeLessThanOrEqual(17);
  }
});
