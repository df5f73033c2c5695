import { expect, it } from "vitest";
import { hourSvg } from "../../../../src/server/ui/views/drawing.js";

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE + 30_000;
const bars = (times: readonly number[]) =>
  [...hourSvg(times, NOW, "label").matchAll(/<rect x="(\d+)" y="\d+" width="\d+" height="(\d+)"/g)].map(
    ([, x, height]) => [Number(x), Number(height)],
  );

it.each<[string, number[], number[][]]>([
  ["nothing", [], []],
  ["one now", [NOW], [[600, 9]]],
  ["one an hour ago", [NOW - 60 * MINUTE + 1], [[0, 9]]],
  ["two in a minute", [NOW - MINUTE, NOW - MINUTE + 1], [[590, 17]]],
  [
    "the most fill the height",
    [...Array(8).fill(NOW - 5 * MINUTE), NOW],
    [
      [550, 34],
      [600, 4],
    ],
  ],
  ["older ones and later ones are left out", [NOW - 90 * MINUTE, NOW + 5 * MINUTE], []],
])("%s", (_name, times, drawn) => {
  expect(bars(times)).toEqual(drawn);
});

it("the label is text", () => {
  expect(hourSvg([], NOW, '"><script>')).toContain('aria-label="&quot;&gt;&lt;script&gt;"');
});
