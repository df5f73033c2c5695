import { expect, test } from "vitest";
import type { HistoryEntry } from "../../../../../src/client/store/history/history-records.js";
import {
  type KnownRow,
  mergeHistoryOutcomes,
} from "../../../../../src/client/workflows/batch/batch-journal.js";

const row = (stage: KnownRow["stage"], localId = "local-1"): KnownRow => ({
  ...{ key: "a", digest: "d", stem: "a", localId, sentAt: "t1", stage },
});
const entry = (rest: Partial<HistoryEntry>) =>
  ({ request_id: "id", status: "PENDING", created_at: "c", sent_at: "s", ...rest }) as HistoryEntry;

test.each<[string, HistoryEntry | "dismissed" | undefined, Partial<KnownRow>]>([
  ["made", entry({}), { stage: "created", requestId: "id", createdAt: "c", sentAt: "s", status: "PENDING" }],
  ["dismissed", "dismissed", { stage: "free" }],
  ["unknown", entry({ status: "UNKNOWN" }), { stage: "open" }],
  ["without an id", entry({ request_id: null }), { stage: "open" }],
  ["not in the history", undefined, { stage: "open" }],
])("an open row whose create was %s", (_, create, expected) => {
  expect(
    mergeHistoryOutcomes(new Map([["r", row("open")]]), { findOutcome: () => create }).get("r"),
  ).toMatchObject(expected);
});

test("only open rows with a local id are looked up, and what was passed in stays as it is", () => {
  const asked: string[] = [];
  const knownRows = new Map([
    ["open", row("open", "local-7")],
    ["unnamed", { ...row("open"), localId: undefined }],
    ["ended", row("ended", "local-8")],
  ]);
  const reconciled = mergeHistoryOutcomes(knownRows, {
    findOutcome(localId) {
      asked.push(localId);
      return "dismissed";
    },
  });
  expect(asked).toEqual(["local-7"]);
  expect(Array.from(reconciled.values(), ({ stage }) => stage)).toEqual(["free", "open", "ended"]);
  expect(knownRows.get("open")?.stage).toBe("open");
});
