import { expect, test } from "vitest";
import { sendTimes } from "../../../../../src/client/workflows/batch/create-pacer.js";

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const free = { attempts: [], limit: Number.POSITIVE_INFINITY, own: [], share: Number.POSITIVE_INFINITY };

test("without a limit all are sent at once", () => {
  expect(sendTimes(3, free, NOW)).toEqual([NOW, NOW, NOW]);
});

test("no count, no times", () => {
  expect(sendTimes(0, free, NOW)).toEqual([]);
});

test("a limit of 2 sends two an hour", () => {
  const use = { ...free, limit: 2, share: 2 };
  expect(sendTimes(5, use, NOW)).toEqual([NOW, NOW, NOW + HOUR, NOW + HOUR, NOW + 2 * HOUR]);
});

test("attempts of others count, in any order", () => {
  const use = { ...free, limit: 2, share: 2, attempts: [NOW - 10, NOW - 30 * 60_000] };
  expect(sendTimes(2, use, NOW)).toEqual([NOW + 30 * 60_000, NOW + HOUR - 10]);
});

test("a shard sends no more than its share", () => {
  const use = { ...free, limit: 10, share: 1, own: [NOW - 1_000] };
  expect(sendTimes(2, use, NOW)).toEqual([NOW + HOUR - 1_000, NOW + 2 * HOUR - 1_000]);
});

test("the lists that are passed in stay as they are", () => {
  const use = { attempts: [NOW], limit: 1, own: [NOW], share: 1 };
  sendTimes(3, use, NOW);
  expect(use).toEqual({ attempts: [NOW], limit: 1, own: [NOW], share: 1 });
});
