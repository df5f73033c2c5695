import { expect, test } from "vitest";
import { listSendTimes } from "../../../../../src/client/workflows/batch/create-pacer.js";

const HOUR = 3_600_000;
const NOW = 10 * HOUR;

test("without a limit all are sent at once", () => {
  expect(listSendTimes(3, [NOW], Number.POSITIVE_INFINITY, NOW)).toEqual([NOW, NOW, NOW]);
});

test("no count, no times", () => {
  expect(listSendTimes(0, [], Number.POSITIVE_INFINITY, NOW)).toEqual([]);
});

test("a limit of 2 sends two an hour", () => {
  expect(listSendTimes(5, [], 2, NOW)).toEqual([NOW, NOW, NOW + HOUR, NOW + HOUR, NOW + 2 * HOUR]);
});

test("attempts of others count, in any order", () => {
  const all = [NOW - 10, NOW - 30 * 60_000];
  expect(listSendTimes(2, all, 2, NOW)).toEqual([NOW + 30 * 60_000, NOW + HOUR - 10]);
});

test("the list that is passed in stays as it is", () => {
  const all = [NOW];
  listSendTimes(3, all, 1, NOW);
  expect(all).toEqual([NOW]);
});
