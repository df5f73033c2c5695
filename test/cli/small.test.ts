import { describe, expect, test } from "vitest";
import { worstOf } from "../../src/cli/errors.js";
import { shellWord } from "../../src/cli/resume.js";
import { maskKey } from "../../src/cli/settings.js";
import { formatDuration, parseDuration } from "../../src/cli/terminal/durations.js";

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["10m", 600_000],
    ["2h", 7_200_000],
    ["3d", 259_200_000],
    ["90", 90_000],
    ["0", 0],
    ["1.5h", 5_400_000],
    ["30d", 2_592_000_000],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", " 5s", "5 s", "-5", "5x", "1h30m", "1e3", "s", "0x10", "Infinity", "５s", "1.s"])(
    "%j is none",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test("for people it has its two largest parts", () => {
    expect([0, 999, 59_999, 185_000, 7_440_000, 90_000_000].map(formatDuration)).toEqual([
      "0s",
      "0s",
      "59s",
      "3m 05s",
      "2h 04m",
      "1d 01h",
    ]);
  });
});

test("of several exit codes the first error wins, then 3, then 10, then 8, then 0", () => {
  expect(worstOf([0, 8, 10, 3, 5, 9])).toBe(5);
  expect(worstOf([8, 10, 3, 0])).toBe(3);
  expect(worstOf([0, 8, 10])).toBe(10);
  expect(worstOf([0, 8])).toBe(8);
  expect(worstOf([0, 0])).toBe(0);
});

test("a word is quoted where a shell would read it otherwise", () => {
  expect(shellWord("abc-1.2_x@last")).toBe("abc-1.2_x@last");
  expect(shellWord("it's $HOME")).toBe("'it'\\''s $HOME'");
  expect(shellWord("")).toBe("''");
});

test("no more than the last four characters of a key are shown, and none of a short one", () => {
  expect(maskKey("sk-0123456789abcd")).toBe("…abcd");
  expect(maskKey("abcd1234")).toBe("…");
});
