import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResultLine, ResultsFile } from "../../../../../src/client/workflows/batch/batch-folder.js";
import type { RowState } from "../../../../../src/client/workflows/batch/plan-rows.js";
import { folderWith } from "../../../../support/folder.js";

const state = (key: string, parts: Partial<RowState> = {}): RowState => ({
  row: { id: `key:${key}`, key, line: 3, body: { prompt: "p" }, digest: "d" },
  ...{
    standing: "done",
    stem: key,
    status: "COMPLETED",
    requestId: "id",
    file: "a.md",
    endedAt: "t2",
  },
  ...{ sentAt: "t1", ...parts },
});
const whole = { row: "key:a", key: "a", line: 3, prompt: "p", request_id: "id" };

describe("the line of a row", () => {
  const error = { code: "X", message: "m", exit_code: 3 };
  test.each<[string, RowState, object]>([
    ["a result", state("a"), { ...whole, status: "COMPLETED", file: "a.md", at: "t2" }],
    [
      "a failure",
      state("a", { standing: "failed", status: "FAILED", file: undefined, error }),
      { ...whole, status: "FAILED", file: null, error, at: "t2" },
    ],
    [
      "an unknown outcome has its local id, and the time at which it was sent",
      state("a", { standing: "unknown", requestId: undefined, localId: "local-1", file: undefined }),
      { ...whole, request_id: null, local_id: "local-1", status: "UNKNOWN", file: null, at: "t1" },
    ],
  ])("of %s", (_, row, line) => {
    expect(buildResultLine(row)).toEqual(line);
  });

  test("without a key has null for it", () => {
    const row = state("a");
    expect(buildResultLine({ ...row, row: { ...row.row, key: undefined } })).toMatchObject({ key: null });
  });
});

function world(content?: string) {
  const folder = folderWith(content === undefined ? {} : { "results.jsonl": content });
  const path = join(folder, "results.jsonl");
  const file = new ResultsFile(folder);
  const rows = () =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).row as string);
  return { file, path, rows };
}

test("what a crash lost is added, and a row that ended again has one line", () => {
  const { file, rows } = world();
  file.add(state("a"));
  file.add(state("b"));
  file.update([
    ...[state("a"), state("b", { endedAt: "t3" }), state("c"), state("d", { standing: "running" })],
    ...[state("e", { standing: "waiting" }), state("f", { standing: "unknown" })],
  ]);
  expect(rows()).toEqual(["key:a", "key:b", "key:c", "key:f"]);
});

test.each([
  ['{"row":"a"}\n{"row', '{"row":"a"}\n'],
  ['{"row":"a"}\n', '{"row":"a"}\n'],
  ['{"row', ""],
  ["", ""],
])("of %j half a line at the end is cut off: %j", (before, after) => {
  const { file, path } = world(before);
  file.update([]);
  expect(readFileSync(path, "utf8")).toBe(after);
});

test("lines that are not of a row go", () => {
  const { file, path, rows } = world();
  file.update([]);
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, 'null\n7\n{\n{"row":"key:a","at":"t2"}\n');
  file.update([state("a"), state("b")]);
  expect(rows()).toEqual(["key:a", "key:b"]);
});

test("an error of the file system names the folder", () => {
  const gone = new ResultsFile("/missing/folder");
  expect(() => gone.add(state("a"))).toThrow(
    "the output folder /missing/folder cannot be used: no such file or folder (ENOENT)",
  );
});
