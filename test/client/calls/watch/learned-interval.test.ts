import { expect, test } from "vitest";
import {
  ENOUGH_RUNS,
  LONGEST_MS,
  learnPollInterval,
  SHORTEST_MS,
} from "../../../../src/client/calls/watch/poll-interval.js";
import type { PollInterval } from "../../../../src/client/calls/watch/watch-types.js";

const MONTH = 30 * 24 * 3_600_000;
/** Thirty runs that took these times, in milliseconds. */
const runs = (...durations: number[]) =>
  Array.from({ length: ENOUGH_RUNS }, (_, i) => durations[i % durations.length] ?? 0);
const MIXED = runs(60_000, 240_000, 960_000);
const FAR_APART = runs(10_000, 10_000_000);

test("with fewer than 30 runs known there is nothing to go by", () => {
  expect(learnPollInterval(MIXED.slice(1))).toBeUndefined();
  expect(learnPollInterval(MIXED)).toBeDefined();
  expect(learnPollInterval(Array(100).fill(0))).toBeUndefined();
});

test.each([
  ["at once", 0, 3_600, MIXED],
  ["at its median", 240_000, 7_920, MIXED],
  ["before it is late", 100_000, 3_600, MIXED],
  ["late", 660_000, 21_780, MIXED],
  ["very late", 2_400_000, 30_000, MIXED],
  ["at once, where runs are short", 1_000, 1_000, runs(5_000)],
  ["at once, where runs are long", 1_000, 30_000, runs(MONTH)],
])("a request is polled %s, %d ms old, after %d ms", (_when, age, wait, known) => {
  expect(learnPollInterval(known)?.(age, 0.5)).toBeCloseTo(wait, 6);
});

test("a duration that is not positive says nothing", () => {
  expect(learnPollInterval([...MIXED, 0, -5])?.(240_000, 0.5)).toBeCloseTo(7_920, 6);
});

test("no wait leaves the bounds, whatever is known and however old the request is", () => {
  for (const durations of [runs(5_000), runs(MONTH), FAR_APART]) {
    const interval = learnPollInterval(durations) as PollInterval;
    for (const age of [0, 1, 999, 5_000, 600_000, MONTH]) {
      for (const jitter of [0, 0.5, 0.999]) {
        expect(interval(age, jitter)).toBeGreaterThanOrEqual(SHORTEST_MS);
        expect(interval(age, jitter)).toBeLessThanOrEqual(LONGEST_MS);
      }
    }
  }
});
