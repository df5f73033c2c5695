import { expect, test } from "vitest";
import { sendTimes } from "../../../../../src/client/workflows/batch/create-pacer.js";

const HOUR = 3_600_000;
const NOW = 10 * HOUR;

test("without a limit all are sent at once", () => {
  expect(sendTimes(3, [[NOW], [NOW]], Number.POSITIVE_INFINITY, NOW)).toEqual([NOW, NOW, NOW]);
});

test("no count, no times", () => {
  expect(sendTimes(0, [[], []], Number.POSITIVE_INFINITY, NOW)).toEqual([]);
});

test("a limit of 2 sends two an hour", () => {
  expect(sendTimes(5, [[], []], 2, NOW)).toEqual([NOW, NOW, NOW + HOUR, NOW + HOUR, NOW + 2 * HOUR]);
});

test("attempts of others count, in any order", () => {
  const all = [NOW - 10, NOW - 30 * 60_000];
  expect(sendTimes(2, [all, []], 2, NOW)).toEqual([NOW + 30 * 60_000, NOW + HOUR - 10]);
});

test("what this batch sent from another machine counts", () => {
  expect(sendTimes(2, [[], [NOW - 1_000]], 1, NOW)).toEqual([NOW + HOUR - 1_000, NOW + 2 * HOUR - 1_000]);
});

test("the lists that are passed in stay as they are", () => {
  const all = [NOW];
  sendTimes(3, [all, all], 1, NOW);
  expect(all).toEqual([NOW]);
});
