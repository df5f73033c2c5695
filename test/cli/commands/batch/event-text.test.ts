import { expect, test } from "vitest";
import { addRowName } from "../../../../src/cli/commands/batch/format-batch.js";
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
