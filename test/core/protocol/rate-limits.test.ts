import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  filterAttemptsInWindow,
  findNextAllowedTime,
  isTier,
  WINDOW_MS,
} from "../../../src/core/protocol/rate-limits.js";

const NOW = 10 * WINDOW_MS;

test("below the limit a slot is free now; at it, when the oldest that counts leaves the hour", () => {
  expect(findNextAllowedTime([NOW - 1], 2, NOW)).toBe(NOW);
  expect(findNextAllowedTime([NOW - 5, NOW - 3], 2, NOW)).toBe(NOW - 5 + WINDOW_MS);
  expect(findNextAllowedTime([NOW - 5, NOW - 3, NOW - 1], 2, NOW)).toBe(NOW - 3 + WINDOW_MS);
  expect(findNextAllowedTime([NOW - WINDOW_MS], 1, NOW)).toBe(NOW);
  expect(findNextAllowedTime([], 0, NOW)).toBe(Number.POSITIVE_INFINITY);
});

test("requests sent only at their slots never make more than the limit in any hour", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 0, max: WINDOW_MS / 4 }), { maxLength: 60 }),
      (limit, pauses) => {
        const sent: number[] = [];
        let now = NOW;
        for (const pause of pauses) {
          now = findNextAllowedTime(sent, limit, now + pause);
          sent.push(now);
          expect(filterAttemptsInWindow(sent, now).length).toBeLessThanOrEqual(limit);
        }
      },
    ),
  );
});

test("a tier is one of the document's, and no name that every object has", () => {
  expect(["free", "pro", "enterprise"].every(isTier)).toBe(true);
  expect(["Free", "toString", "", undefined].some(isTier)).toBe(false);
});

test("attempts count in any order", () => {
  expect(filterAttemptsInWindow([NOW - 1, NOW - 5, NOW - 3], NOW)).toEqual([NOW - 5, NOW - 3, NOW - 1]);
  expect(findNextAllowedTime([NOW - 1, NOW - 5, NOW - 3], 2, NOW)).toBe(NOW - 3 + WINDOW_MS);
});

test("what is no text names no tier", () => {
  expect(isTier(["free"])).toBe(false);
});
