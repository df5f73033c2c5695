import { expect, test } from "vitest";
import {
  addBoundedJitter,
  computeAdaptiveInterval,
  computePatientInterval,
  computeRequestAge,
} from "../../../../src/client/calls/watch/poll-interval.js";
import { watched } from "./fixtures.js";

test.each([
  [0, 1_000],
  [20_000, 1_000],
  [100_000, 5_000],
  [600_000, 30_000],
  [1e9, 30_000],
])("a request that is %d ms old is polled after %d ms", (age, wait) => {
  expect(computeAdaptiveInterval(age, 0.5)).toBe(wait);
});

test("a wait is spread by a twentieth to either side and stays between 1 and 30 s", () => {
  expect([0, 0.5, 1].map((random) => Math.round(addBoundedJitter(10_000, random)))).toEqual([
    9_500, 10_000, 10_500,
  ]);
  expect(addBoundedJitter(1_000, 0)).toBe(1_000);
  expect(addBoundedJitter(30_000, 1)).toBe(30_000);
  expect(addBoundedJitter(1, 1)).toBe(1_050);
  expect(addBoundedJitter(1e9, 0)).toBe(28_500);
});

test.each([30_000, 300_000, 600_000, 1_200_000, 7_200_000])(
  "a service that waits sees the end of a run of %d ms within a twentieth of it, and two minutes",
  (age) => {
    const longest = Math.round(computePatientInterval(age, 1));
    expect(longest).toBeLessThanOrEqual(Math.max(age * 0.05, 1_500));
    expect(longest).toBeLessThanOrEqual(120_000);
    expect(computePatientInterval(age, 0)).toBeGreaterThanOrEqual(Math.min(age * 0.045, 114_000));
  },
);

test("the age counts since the service created it where that is known, else since it is watched", () => {
  expect(computeRequestAge(watched({ since: 400 }), 1_000, 50_000)).toBe(600);
  expect(computeRequestAge(watched({ since: 400, createdAt: 20_000 }), 1_000, 50_000)).toBe(30_000);
  expect(computeRequestAge(watched({ since: 400, createdAt: 90_000 }), 1_000, 50_000)).toBe(600);
});

test("a service whose clock is behind makes no request older than this machine's record of it", () => {
  expect(
    computeRequestAge(watched({ since: 400, createdAt: 20_000, recordedAt: 45_000 }), 1_000, 50_000),
  ).toBe(5_000);
  expect(
    computeRequestAge(watched({ since: 400, createdAt: 45_000, recordedAt: 20_000 }), 1_000, 50_000),
  ).toBe(5_000);
  // Zero stands for the record of another service.
  expect(computeRequestAge(watched({ since: 400, createdAt: 20_000, recordedAt: 0 }), 1_000, 50_000)).toBe(
    30_000,
  );
});
