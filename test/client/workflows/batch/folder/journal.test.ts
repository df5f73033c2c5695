import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  computeNextRow,
  type JournalLine,
  readJournal,
} from "../../../../../src/client/workflows/batch/batch-journal.js";
import { appendLine } from "../../../../../src/core/files/file-access.js";
import { folderWith } from "../../../../support/folder.js";

const intent: JournalLine = {
  ...{ kind: "intent", row: "key:a", key: "a", digest: "d", stem: "a", local_id: "local-1", at: "t1" },
  ...{ origin: "https://one.example", profile: null },
};
const created: JournalLine = { kind: "created", row: "key:a", request_id: "id", created_at: "c", at: "t2" };
const error = { code: "X", message: "m", exit_code: 6 };
const replay = (...lines: JournalLine[]) =>
  lines.reduce<ReturnType<typeof computeNextRow>>((known, line) => computeNextRow(known, line), undefined);

describe("what is known of a row after", () => {
  test.each<[string, JournalLine[], object | undefined]>([
    [
      "an intent",
      [intent],
      { key: "a", digest: "d", stem: "a", localId: "local-1", sentAt: "t1", stage: "open" },
    ],
    ["a create", [intent, created], { stage: "created", requestId: "id", createdAt: "c", sentAt: "t2" }],
    [
      "a dismissed create",
      [intent, { kind: "dismissed", row: "key:a", at: "t2" }],
      { stage: "free", error: undefined, endedAt: "t2" },
    ],
    [
      "a refused create",
      [intent, { kind: "dismissed", row: "key:a", error, at: "t2" }],
      { stage: "refused", error },
    ],
    [
      "an end",
      [intent, created, { kind: "ended", row: "key:a", status: "COMPLETED", file: "a.md", at: "t3" }],
      { stage: "ended", status: "COMPLETED", file: "a.md", endedAt: "t3", requestId: "id" },
    ],
    [
      "an end with an error",
      [intent, created, { kind: "ended", row: "key:a", status: "FAILED", error, at: "t3" }],
      { stage: "ended", error },
    ],
    ["an end without an intent", [{ kind: "ended", row: "key:a", status: "FAILED", at: "t" }], undefined],
  ])("%s", (_, lines, known) => {
    if (known === undefined) expect(replay(...lines)).toBeUndefined();
    else expect(replay(...lines)).toMatchObject(known);
  });

  test("a second intent forgets the first attempt", () => {
    const ended: JournalLine = { kind: "ended", row: "key:a", status: "FAILED", error, at: "t3" };
    expect(replay(intent, created, ended, { ...intent, at: "t5" })).toEqual({
      ...{ key: "a", digest: "d", stem: "a", localId: "local-1", sentAt: "t5", stage: "open" },
      ...{ origin: "https://one.example", profile: null },
    });
  });
});

test("torn and foreign lines are skipped, whatever they hold", () => {
  const path = join(folderWith(), "journal.jsonl");
  appendLine(path, JSON.stringify(intent), { sync: false });
  appendFileSync(path, '{"kind":"created"}\nnull\n[1]\n{"kind":"other","row":"key:a"}\nnot json\n');
  appendLine(path, JSON.stringify(created), { sync: true });
  appendFileSync(path, '{"kind":"ended","row":"key:a","st');
  expect([...readJournal(path).keys()]).toEqual(["key:a"]);
  expect(readJournal(path).get("key:a")?.stage).toBe("created");
});

test("a line after half a line begins on a line of its own", () => {
  const path = join(folderWith(), "journal.jsonl");
  appendLine(path, JSON.stringify(intent), { sync: false });
  appendFileSync(path, '{"half');
  appendLine(path, JSON.stringify(created), { sync: false });
  expect(readJournal(path).get("key:a")?.requestId).toBe("id");
  expect(readFileSync(path, "utf8").endsWith("\n")).toBe(true);
});

test("no file, nothing known", () => {
  expect(readJournal(join(folderWith(), "none.jsonl")).size).toBe(0);
});
