import { expect, test } from "vitest";
import { computeRetryDelay } from "../../../src/client/calls/failure-policy.js";

test("four tries, at about 0, 0.5, 1.5 and 4 s, each wait within a fifth", () => {
  const waits = (random: number) =>
    [1, 2, 3, 4].map((failures) => computeRetryDelay(failures, undefined, random));
  expect(waits(0.5)).toEqual([500, 1_000, 2_500, undefined]);
  expect(waits(0)).toEqual([400, 800, 2_000, undefined]);
  expect(waits(1).map((wait) => wait && Math.round(wait))).toEqual([600, 1_200, 3_000, undefined]);
});

test("a Retry-After within 30 s is kept and only lengthens; a longer one ends the tries", () => {
  expect(computeRetryDelay(1, 30, 0.5)).toBe(30_000);
  expect(computeRetryDelay(3, 1, 0.5)).toBe(2_500);
  expect(computeRetryDelay(1, 31, 0.5)).toBeUndefined();
});
