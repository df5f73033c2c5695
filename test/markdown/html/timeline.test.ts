import { describe, expect, test } from "vitest";
import { type Bar, stateClass, ticks, timelineSvg } from "../../../src/markdown/html/timeline.js";

const bar = (startedAt: number, endedAt: number, label = "q"): Bar => ({
  ...{ label, state: "COMPLETED", startedAt, endedAt, href: "a.html" },
});
const numbers = (svg: string, name: string) =>
  [...svg.matchAll(new RegExp(`<rect[^>]* ${name}="([^"]*)"`, "g"))].map(([, value]) => Number(value));

test("bars stand where their times are", () => {
  const svg = timelineSvg([bar(1_000, 3_000), bar(3_000, 5_000), bar(5_000, 5_000)]);
  expect(numbers(svg, "x")).toEqual([0, 500, 1_000]);
  expect(numbers(svg, "width")).toEqual([500, 500, 2]);
  expect(numbers(svg, "y")).toEqual([24, 38, 52]);
});

test("ten thousand bars stay on a page", () => {
  const svg = timelineSvg(Array.from({ length: 10_000 }, (_, i) => bar(i, i + 10)));
  expect(svg).toContain('viewBox="0 0 1000 1424"');
  expect(Math.max(...numbers(svg, "y"))).toBeLessThan(1_424);
});

test("nothing that ran is no drawing", () => {
  expect(timelineSvg([])).toBe("");
});

test("a label is text", () => {
  const svg = timelineSvg([bar(0, 1, '</title><script>"')]);
  expect(svg).toContain("<title>&lt;/title&gt;&lt;script&gt;&quot;: COMPLETED</title>");
  expect(svg).not.toMatch(/style=|<script/);
});

describe("ticks of", () => {
  const SECOND = 1_000;
  const HOUR = 3_600 * SECOND;
  test.each([
    ["a second", SECOND, [0, SECOND]],
    ["a minute", 60 * SECOND, [0, 10, 20, 30, 40, 50, 60].map((s) => s * SECOND)],
    ["two hours", 2 * HOUR, [0, 0.5, 1, 1.5, 2].map((h) => h * HOUR)],
    ["ten years", 87_600 * HOUR, Array.from({ length: 9 }, (_, i) => i * 10_950 * HOUR)],
  ])("%s", (_name, span, expected) => {
    expect(ticks(span)).toEqual(expected);
  });

  test("are written as times", () => {
    const svg = timelineSvg([bar(0, 26 * HOUR)]);
    expect([...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual([
      ...["start", "6h", "12h", "18h", "1d"],
    ]);
  });
});

test.each([
  ["COMPLETED", "done"],
  ["PROCESSING", "busy"],
  ["WAITING", "idle"],
  ["STOPPED", "idle"],
  ["FAILED", "bad"],
  ["UNKNOWN", "bad"],
  ["<anything>", "bad"],
])("%s looks %s", (state, look) => {
  expect(stateClass(state)).toBe(look);
});
