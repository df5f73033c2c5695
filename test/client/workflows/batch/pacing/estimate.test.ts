import { expect, test } from "vitest";
import { CreatePacer } from "../../../../../src/client/workflows/batch/create-pacer.js";
import {
  estimateBatch,
  estimateRunDuration,
  estimateRunningBatch,
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
  ["a limit", 2, 3, 600_000, 2, NOW + HOUR, NOW + HOUR + 600_000],
  ["no limit", Number.POSITIVE_INFINITY, 3, 600_000, null, NOW, NOW + 600_000],
  ["an unknown limit", undefined, 3, 600_000, null, null, null],
  ["nothing to send", 2, 0, 600_000, 2, null, null],
  ["no usual length", 2, 3, undefined, 2, NOW + HOUR, null],
])("%s", (_, limit, waiting, usualMs, shown, lastSentAt, endsAt) => {
  const counts = { ...none, waiting };
  expect(estimateBatch(counts, pacer(limit), usualMs, NOW)).toEqual({
    ...{ counts, limit: shown, now: NOW, lastSentAt, endsAt },
  });
});

test.each([
  ["rows wait and the limit is known", { waiting: 3, running: 1 }, 2, 600_000, NOW + HOUR + 600_000],
  ["rows only run", { running: 1 }, undefined, 600_000, NOW + 600_000],
  ["rows wait without a limit", { waiting: 1 }, undefined, 600_000, undefined],
  ["all is over", { done: 3 }, 2, 600_000, undefined],
  ["no length is usual", { running: 1 }, 2, undefined, undefined],
])("the end is estimated where it can be: %s", (_, counts, limit, usualMs, endsAt) => {
  expect(estimateRunningBatch({ ...none, ...counts }, pacer(limit), usualMs, NOW).endsAt).toBe(endsAt);
});
