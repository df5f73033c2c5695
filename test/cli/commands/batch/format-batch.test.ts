import { describe, expect, test } from "vitest";
import {
  buildEstimateJson,
  buildRowJson,
  type DryRun,
  formatBatchProgress,
  formatEstimate,
  formatLiveLine,
  formatRowChange,
  formatRowCounts,
  formatRowLine,
} from "../../../../src/cli/commands/batch/format-batch.js";
import { PLAIN } from "../../../../src/cli/terminal/style.js";
import type { RowState, StandingCounts } from "../../../../src/client/workflows/batch/plan-rows.js";
import { NAMED } from "../../../support/style.js";

const NOW = new Date(2030, 0, 1, 12, 0).getTime();
const ZERO: StandingCounts = {
  waiting: 0,
  running: 0,
  done: 0,
  failed: 0,
  refused: 0,
  stopped: 0,
  unknown: 0,
};
const ONE_EACH: StandingCounts = {
  waiting: 1,
  running: 1,
  done: 1,
  failed: 1,
  refused: 1,
  stopped: 1,
  unknown: 1,
};
const state = (parts: Partial<RowState> = {}, key: string | undefined = "acme"): RowState => ({
  row: { id: "i", key, line: 3, body: { prompt: "p" }, digest: "d" },
  ...{ standing: "running", stem: "acme", status: "PENDING" },
  ...parts,
});

test.each([
  [ZERO, "0 of 0 done, 0 running, 0 waiting"],
  [{ ...ZERO, done: 2, running: 3, waiting: 4 }, "2 of 9 done, 3 running, 4 waiting"],
  [
    ONE_EACH,
    "1 of 7 done, 1 running, 1 waiting, <bad>1 failed</>, <bad>1 refused</>, <bad>1 stopped</>, <bad>1 unknown</>",
  ],
])("the counts %j", (counts, text) => {
  expect(formatRowCounts(counts, NAMED)).toBe(text);
});

describe("the hour", () => {
  const waiting = { ...ZERO, waiting: 1 };
  test.each([
    [waiting, {}, ""],
    [waiting, { left: 0 }, "; 0 creates left this hour"],
    [waiting, { nextAt: NOW + 60_000 }, "; next slot 12:01"],
    [waiting, { nextAt: NOW }, ""],
    [{ ...ZERO, running: 1 }, { nextAt: NOW + 60_000 }, ""],
    [waiting, { endsAt: new Date(2030, 10, 2, 3, 4).getTime() }, "; end about 2030-11-02 03:04"],
    [waiting, { endsAt: Number.POSITIVE_INFINITY }, "; end about never"],
    [
      waiting,
      { left: 3, nextAt: NOW + 60_000, endsAt: NOW },
      "; 3 creates left this hour, next slot 12:01, end about 12:00",
    ],
  ])("of %j with %j is %j", (counts, outlook, text) => {
    expect(formatBatchProgress(counts, outlook, NOW, PLAIN)).toBe(formatRowCounts(counts, PLAIN) + text);
  });

  test("is dim", () => {
    expect(formatBatchProgress(waiting, { left: 3 }, NOW, NAMED)).toMatch(
      /<dim>; 3 creates left this hour<\/>$/,
    );
  });
});

test.each([
  [ZERO, 20],
  [{ ...ZERO, waiting: 1 }, 0],
  [{ ...ZERO, waiting: 1, done: 1 }, 10],
  [{ ...ZERO, running: 2, failed: 1 }, 6],
  [ONE_EACH, 11],
  [{ ...ZERO, refused: 1, stopped: 1 }, 20],
])("the bar of %j has %d of 20 parts", (counts, full) => {
  expect(formatLiveLine(counts, {}, NOW, NAMED).split(" ")[0]).toBe(
    `<good>${"█".repeat(full)}</><dim>${"░".repeat(20 - full)}</>`,
  );
  expect(formatLiveLine(counts, {}, NOW, PLAIN)).toMatch(/^[█░]{20} \d+ of/);
});

const error = { code: "X", message: "no\nline", exit_code: 3 };
test.each<[string, RowState, string]>([
  ["a new request", state({ requestId: "id" }), "[4/7] acme (id) is PENDING"],
  ["a later state", state({ requestId: "id", status: "PROCESSING" }), "[4/7] acme is PROCESSING"],
  ["a row without an id", state(), "[4/7] acme is PENDING"],
  ["a failure", state({ standing: "failed", status: "FAILED", error }), "[4/7] acme is FAILED: no line"],
  ["a refusal", state({ standing: "refused", error }), "[4/7] acme is REFUSED"],
  ["a failure without a reason", state({ standing: "failed", status: "FAILED" }), "[4/7] acme is FAILED"],
  ["a line", { ...state(), row: { ...state().row, key: undefined } }, "[4/7] line 3 is PENDING"],
  ["a key of two lines", { ...state(), row: { ...state().row, key: "a\nb" } }, "[4/7] a b is PENDING"],
  ["a state of two lines", state({ status: "A\nB" }), "[4/7] acme is A B"],
])("a change of a row: %s", (_, row, text) => {
  expect(formatRowChange(row, ONE_EACH)).toBe(text);
});

test.each<[string, RowState, string]>([
  [
    "COMPLETED",
    state({ standing: "done", status: "COMPLETED", requestId: "id", file: "acme.md" }),
    "id\t<good>COMPLETED</>\tacme\tacme.md",
  ],
  ["refused", state({ standing: "refused", localId: "local-1" }), "-\t<busy>REFUSED</>\tacme\t-"],
  ["unknown", state({ standing: "unknown", localId: "local-1" }), "local-1\t<bad>UNKNOWN</>\tacme\t-"],
  ["unknown without a record", state({ standing: "unknown" }), "-\t<bad>UNKNOWN</>\tacme\t-"],
  [
    "a key with a tab",
    state({ row: { ...state().row, key: "a\tb" }, requestId: "id" }),
    "id\t<busy>PENDING</>\ta b\t-",
  ],
])("a row for a script: %s", (_, row, text) => {
  expect(formatRowLine(row, NAMED)).toBe(text);
});

describe("a row for a program", () => {
  const moment = { previous: "PENDING", final: true, at: 1_000, elapsedMs: 12.6 };
  const seen = { previous_status: "PENDING", at: "1970-01-01T00:00:01.000Z", elapsed_ms: 13, final: true };

  test("with nothing but its line", () => {
    const row = state({ standing: "waiting", status: null, localId: "local-1" });
    expect(buildRowJson({ ...row, row: { ...row.row, key: undefined } }, moment)).toEqual({
      ...{ key: null, line: 3, request_id: null, status: "WAITING", ...seen },
    });
  });

  test("an unknown outcome has its local id", () => {
    expect(buildRowJson(state({ standing: "unknown", localId: "local-1" }), moment)).toMatchObject({
      ...{ status: "UNKNOWN", local_id: "local-1" },
    });
  });
});

describe("what a batch would do", () => {
  const noon = Date.UTC(2030, 0, 1, 12);
  const some = { ...ZERO, waiting: 2 };
  const base: DryRun = { counts: some, limit: 10, now: noon };
  const sent = { lastSentAt: noon + 65_000 };

  test.each<[string, Partial<DryRun>, string]>([
    ["nothing is left", { counts: { ...ZERO, done: 2 } }, "2 rows: 0 to send, 2 done\n"],
    [
      "no limit",
      { ...sent, limit: undefined },
      "2 rows: 2 to send\nwithout a limit it takes 1m 05s until the last one is sent, at 2030-01-01T12:01:05.000Z\n",
    ],
    [
      "the end",
      { counts: ONE_EACH, ...sent, endsAt: noon + 600_000 },
      "7 rows: 1 to send, 1 done, 1 running, 1 unknown, 1 failed, 1 refused, 1 stopped\nat 10 an hour it takes 1m 05s until the last one is sent, at 2030-01-01T12:01:05.000Z\nby the usual length of a run, it ends at about 2030-01-01T12:10:00.000Z\n",
    ],
  ])("in sentences: %s", (_, parts, text) => {
    expect(formatEstimate({ ...base, ...parts })).toBe(text);
  });

  test("for a program", () => {
    expect(buildEstimateJson(base)).toEqual({
      ...{ rows: 2, to_send: 2, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 },
      ...{ limit: 10, takes_ms: null, last_sent_at: null, ends_at: null },
    });
    expect(buildEstimateJson({ ...base, ...sent, endsAt: noon })).toMatchObject({
      ...{ takes_ms: 65_000, last_sent_at: "2030-01-01T12:01:05.000Z", ends_at: "2030-01-01T12:00:00.000Z" },
    });
  });
});
