import { expect, test } from "vitest";
import { ENOUGH_RUNS, learnedInterval } from "../../../src/client/watch/learned-interval.js";
import { LONGEST_MS, SHORTEST_MS } from "../../../src/client/watch/poll-interval.js";
import type { PollInterval } from "../../../src/client/watch/types.js";

const MONTH = 30 * 24 * 3_600_000;
/** Thirty runs that took these times, in milliseconds. */
const runs = (...durations: number[]) =>
  Array.from({ length: ENOUGH_RUNS }, (_, i) => durations[i % durations.length] ?? 0);
const MIXED = runs(60_000, 240_000, 960_000);
const ALIKE = runs(540_000, 600_000);
const EQUAL = runs(600_000);
const FAR_APART = runs(10_000, 10_000_000);

test("with fewer than 30 runs known there is nothing to go by", () => {
  expect(learnedInterval(MIXED.slice(1))).toBeUndefined();
  expect(learnedInterval(MIXED)).toBeDefined();
  expect(learnedInterval(Array(100).fill(0))).toBeUndefined();
});

// The waits were computed with another implementation of the normal distribution (C's erfc).
test.each([
  ["mixed", 0, 5_750, MIXED],
  ["mixed", 1_000, 4_750, MIXED],
  ["mixed", 30_000, 3_000, MIXED],
  ["mixed", 100_000, 4_500, MIXED],
  ["mixed", 240_000, 7_500, MIXED],
  ["mixed", 660_000, 15_000, MIXED],
  ["mixed", 2_400_000, 30_000, MIXED],
  ["much alike", 450_000, 30_000, ALIKE],
  ["much alike", 500_000, 14_750, ALIKE],
  ["much alike", 550_000, 4_750, ALIKE],
  ["much alike", 660_000, 2_250, ALIKE],
  ["much alike", 10_000_000, 8_000, ALIKE],
  ["equal", 550_000, 9_000, EQUAL],
  ["equal", 600_000, 3_750, EQUAL],
  // 125 ms later, in the middle of the first step, it is exactly as old as the known runs are long.
  ["equal", 599_883, 3_750, runs(600_008)],
  ["equal", 960_000, 1_750, EQUAL],
  ["far apart", 1_000, 1_000, FAR_APART],
  ["far apart", 60_000, 4_000, FAR_APART],
  ["far apart", 450_000, 23_250, FAR_APART],
])("if the known runs are %s, one that is %d ms old is polled after %d ms", (_what, age, wait, known) => {
  expect(learnedInterval(known)?.(age, 0.5)).toBe(wait);
});

test("a duration that is not positive says nothing", () => {
  expect(learnedInterval([...MIXED, 0, -5])?.(240_000, 0.5)).toBe(7_500);
});

test("no wait leaves the bounds, whatever is known and however old the request is", () => {
  for (const durations of [runs(5_000), runs(MONTH), FAR_APART]) {
    const interval = learnedInterval(durations) as PollInterval;
    for (const age of [0, 1, 999, 5_000, 600_000, MONTH]) {
      for (const jitter of [0, 0.5, 0.999]) {
        expect(interval(age, jitter)).toBeGreaterThanOrEqual(SHORTEST_MS);
        expect(interval(age, jitter)).toBeLessThanOrEqual(LONGEST_MS);
      }
    }
  }
});
