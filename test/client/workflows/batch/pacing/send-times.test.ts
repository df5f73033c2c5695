import { expect, test } from "vitest";
import { sendTimes } from "../../../../../src/client/workflows/batch/create-pacer.js";

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const free = { times: [], limit: Number.POSITIVE_INFINITY };
const two = { times: [], limit: 2 };

test("without a limit all are sent at once", () => {
  expect(sendTimes(3, [free, free], NOW)).toEqual([NOW, NOW, NOW]);
});

test("no count, no times", () => {
  expect(sendTimes(0, [free, free], NOW)).toEqual([]);
});

test("a limit of 2 sends two an hour", () => {
  expect(sendTimes(5, [two, two], NOW)).toEqual([NOW, NOW, NOW + HOUR, NOW + HOUR, NOW + 2 * HOUR]);
});

test("attempts of others count, in any order", () => {
  const all = { times: [NOW - 10, NOW - 30 * 60_000], limit: 2 };
  expect(sendTimes(2, [all, two], NOW)).toEqual([NOW + 30 * 60_000, NOW + HOUR - 10]);
});

test("a shard sends no more than its share", () => {
  const own = { times: [NOW - 1_000], limit: 1 };
  expect(sendTimes(2, [{ times: [], limit: 10 }, own], NOW)).toEqual([
    NOW + HOUR - 1_000,
    NOW + 2 * HOUR - 1_000,
  ]);
});

test("the lists that are passed in stay as they are", () => {
  const all = { times: [NOW], limit: 1 };
  sendTimes(3, [all, all], NOW);
  expect(all).toEqual({ times: [NOW], limit: 1 });
});
