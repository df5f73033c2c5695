import { expect, test } from "vitest";
import { CreatePacer } from "../../../../../src/client/workflows/batch/create-pacer.js";
import {
  estimateBatch,
  estimateRunDuration,
} from "../../../../../src/client/workflows/batch/estimate-batch.js";
import type { Clock } from "../../../../../src/core/clock.js";
import { accountWith } from "../../../../support/account.js";

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const none = { waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 };
const pacer = (limit: number | undefined) =>
  new CreatePacer({ ...{ clock: { now: () => NOW } as Clock, attempts: () => [], own: [], limit } });

test.each([
  [[], undefined],
  [[5], 5],
  [[9, 1, 5], 5],
  [[9, 1, 5, 7], 7],
])("the usual length of %j is %s", (durations, median) => {
  expect(estimateRunDuration({ history: { listDurations: () => durations } } as never)).toBe(median);
});

test("without a history no length is usual", () => {
  expect(estimateRunDuration(accountWith({}))).toBeUndefined();
});

test.each([
  ["a limit", 2, { waiting: 3 }, 600_000, NOW + HOUR, NOW + HOUR + 600_000],
  ["no limit", Number.POSITIVE_INFINITY, { waiting: 3 }, 600_000, NOW, NOW + 600_000],
  ["an unknown limit", undefined, { waiting: 3, running: 1 }, 600_000, undefined, undefined],
  ["rows that only run", undefined, { running: 1 }, 600_000, undefined, NOW + 600_000],
  ["rows that wait and run", 2, { waiting: 3, running: 1 }, 600_000, NOW + HOUR, NOW + HOUR + 600_000],
  ["rows that are all over", 2, { done: 3 }, 600_000, undefined, undefined],
  ["no usual length", 2, { waiting: 3 }, undefined, NOW + HOUR, undefined],
])("the forecast with %s", (_, limit, counts, usualMs, lastSentAt, endsAt) => {
  expect(estimateBatch({ ...none, ...counts }, pacer(limit), usualMs, NOW)).toMatchObject({
    lastSentAt,
    endsAt,
  });
});
