import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BatchFolder, readKnownRows } from "../../../../../src/client/workflows/batch/batch-folder.js";
import type { RowState } from "../../../../../src/client/workflows/batch/plan-rows.js";
import { LocalError } from "../../../../../src/core/files/local-error.js";
import { folderWith } from "../../../../support/folder.js";

const account = { origin: "https://one.example", profile: null };
const row = { row: "key:a", digest: "d", stem: "a", local_id: null };
const intent = { kind: "intent", ...row, ...account, at: "t" } as const;

async function open(path: string, use: (folder: BatchFolder) => void | Promise<void>): Promise<void> {
  const folder = await BatchFolder.open(path);
  try {
    await use(folder);
  } finally {
    folder.close();
  }
}

const done: RowState = {
  row: { id: "key:a", key: "a", line: 1, digest: "d", body: { prompt: "p" } },
  ...{ standing: "done", stem: "a", status: "COMPLETED", requestId: "id", file: "a.md" },
  ...{ endedAt: "2030-01-01T00:00:00.000Z" },
};

describe("a folder with results of something else", () => {
  test("is refused, and nothing in it changes", async () => {
    const path = folderWith({ "results.jsonl": '{"whole":1}\n{"torn' });
    await expect(BatchFolder.open(path)).rejects.toThrow(LocalError);
    await expect(BatchFolder.open(path)).rejects.toThrow("results.jsonl that this batch did not write");
    expect(readFileSync(join(path, "results.jsonl"), "utf8")).toBe('{"whole":1}\n{"torn');
    expect(existsSync(join(path, ".research-batch"))).toBe(false);
  });

  test("is refused if the results are a link, with a journal of ours as well", async () => {
    const elsewhere = join(folderWith({ "mine.jsonl": "mine" }), "mine.jsonl");
    const path = folderWith();
    await open(path, (folder) => folder.record(intent));
    symlinkSync(elsewhere, join(path, "results.jsonl"));
    await expect(BatchFolder.open(path)).rejects.toThrow("did not write");
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
  });

  test("is refused if the state folder is a link to that of another batch", async () => {
    const other = folderWith();
    await open(other, (folder) => folder.record(intent));
    const path = folderWith({ "results.jsonl": '{"whole":1}\n{"torn' });
    symlinkSync(join(other, ".research-batch"), join(path, ".research-batch"));
    await expect(BatchFolder.open(path)).rejects.toThrow(LocalError);
    await expect(BatchFolder.open(path)).rejects.toThrow(/\.research-batch is a link/);
    expect(readFileSync(join(path, "results.jsonl"), "utf8")).toBe('{"whole":1}\n{"torn');
  });

  test("is taken if the results are not there", async () => {
    const path = folderWith({ "notes.txt": "mine" });
    await open(path, (folder) => expect([...folder.foreign]).toContain("notes.txt"));
  });
});

test("a second process, or a second call, cannot open a folder that is held", async () => {
  const path = join(folderWith(), "new", "out");
  await open(
    path,
    async () => await expect(BatchFolder.open(path)).rejects.toThrow(/another batch, process \d+/),
  );
  await open(path, () => {});
});

test("what is recorded is known later", async () => {
  const path = folderWith();
  await open(path, (folder) => folder.record(intent, { sync: true }));
  expect(readKnownRows(path).get("key:a")?.stage).toBe("open");
  expect(readKnownRows(join(path, "none")).size).toBe(0);
});

test("results of this batch are not foreign", async () => {
  const path = folderWith();
  await open(path, (folder) => folder.record(intent));
  await open(path, (folder) => {
    folder.write("a.md", "text");
    writeFileSync(join(path, "b.md"), "mine");
    expect([...folder.foreign].sort()).toEqual([".research-batch", "b.md"]);
    expect([folder.has("a.md"), folder.has("c.md")]).toEqual([true, false]);
    folder.write("a.md", "again");
  });
  expect(readFileSync(join(path, "a.md"), "utf8")).toBe("again");
});

test("half a line in the results is cut when the folder is opened, and the row gets its line again", async () => {
  const path = folderWith();
  await open(path, (folder) => folder.record(intent));
  writeFileSync(join(path, "results.jsonl"), '{"row":"key:z"}\n{"row":"key:a","at":"20');
  await open(path, (folder) => {
    folder.results.update([done, { ...done, standing: "running" }]);
    folder.results.update([done]);
  });
  const lines = readFileSync(join(path, "results.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { row: "key:z" },
    {
      ...{
        row: "key:a",
        key: "a",
        line: 1,
        prompt: "p",
        request_id: "id",
        status: "COMPLETED",
        file: "a.md",
      },
      at: done.endedAt,
    },
  ]);
});

test("a path that cannot be a folder is named", async () => {
  const path = join(folderWith({ plain: "" }), "plain");
  await expect(BatchFolder.open(path)).rejects.toThrow(`the output folder ${path} cannot be used`);
});

test("a place where no folder can be made is named, and does not hang", async () => {
  await expect(BatchFolder.open("/proc/research-out/below")).rejects.toThrow(LocalError);
});
