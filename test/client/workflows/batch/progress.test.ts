import { expect, test } from "vitest";
import {
  BatchProgress,
  type RowStanding,
  type RowState,
} from "../../../../src/client/workflows/batch/plan-rows.js";

const state = (standing: RowStanding): RowState => ({
  ...{ standing, stem: "s", status: null, announce: "later" },
  row: { id: "i", key: undefined, line: 1, body: { prompt: "p" }, digest: "d" },
});
const none = { waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 };

test("rows are counted by where they stand", () => {
  const progress = new BatchProgress([state("waiting"), state("waiting"), state("done")]);
  expect(progress.counts).toEqual({ ...none, waiting: 2, done: 1 });
});

test("an update moves a row from one count to another and keeps the rest", () => {
  const row = state("waiting");
  const progress = new BatchProgress([row]);
  progress.update(row, { standing: "running", requestId: "id" });
  progress.update(row, { status: "PROCESSING" });
  expect(progress.counts).toEqual({ ...none, running: 1 });
  expect(row).toMatchObject({ requestId: "id", status: "PROCESSING" });
});

test.each([
  ["failed", 1],
  ["refused", 1],
  ["unknown", 1],
  ["stopped", 0],
  ["done", 0],
] as const)("a row that becomes %s counts %i towards the failures, once", (standing, failures) => {
  const row = state("running");
  const progress = new BatchProgress([row, state("failed")]);
  progress.update(row, { standing });
  progress.update(row, { endedAt: "then" });
  expect(progress.failures).toBe(failures);
});
