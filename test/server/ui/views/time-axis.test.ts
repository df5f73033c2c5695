import { describe, expect, test } from "vitest";
import { axis, ticks } from "../../../../src/server/ui/views/time-axis.js";

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
    const hours = [0, 6, 12, 26].map((h) => axis(h * HOUR, h * 10, 50));
    expect(hours.map((svg) => />([^<]*)<\/text>/.exec(svg)?.[1])).toEqual(["start", "6h", "12h", "1d 2h"]);
  });
});
