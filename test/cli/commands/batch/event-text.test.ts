import { expect, test } from "vitest";
import { addRowName, formatRetryReason } from "../../../../src/cli/commands/batch/format-batch.js";
import { UnreachableError } from "../../../../src/client/calls/errors.js";
import type { RowState } from "../../../../src/client/workflows/batch/plan-rows.js";

const state: RowState = {
  row: { id: "i", key: "acme", line: 3, body: { prompt: "p" }, digest: "d" },
  ...{
    standing: "running",
    stem: "acme",
    status: "PENDING",
    requestId: "id-1",
  },
};

test("a row has its name", () => {
  expect(addRowName(state, "no")).toBe("acme: no");
});

test.each([
  ["create", undefined, "no answer; it will be sent again"],
  ["poll", undefined, "no answer; polling goes on"],
  ["fetch", undefined, "no answer; the result will be fetched again"],
  ["fetch", state, "acme: no answer; the result will be fetched again"],
] as const)("trouble with a %s", (activity, of, text) => {
  const error = new UnreachableError("UNREACHABLE", "no answer");
  expect(formatRetryReason({ kind: "trouble", activity, error, ...(of && { state: of }) })).toBe(text);
});
