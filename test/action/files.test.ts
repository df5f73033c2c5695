import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkOutput, stampOf } from "../../action/files.js";
import { folderOnDisk } from "../support/folder.js";

const folder = folderOnDisk({ "a-folder/a-file": "" });
execFileSync("mkfifo", [join(folder, "a-pipe")]);

test.each([
  "-",
  "/dev/stdout",
  "/dev/fd/1",
  "/proc/self/fd/1",
  "/dev/null",
  "/proc/self/status",
  join(folder, "a-folder"),
  join(folder, "a-pipe"),
])("%s is no place for a result", (output) => {
  expect(() => checkOutput(output, "file")).toThrow(
    `invalid output: ${JSON.stringify(output)} is not a regular file`,
  );
});

test("a file is, there or not, and a folder for a batch", () => {
  for (const name of ["a-folder/a-file", "new", "missing/new"]) checkOutput(join(folder, name), "file");
  checkOutput(join(folder, "a-folder"), "folder");
  expect(() => checkOutput(join(folder, "a-folder/a-file"), "folder")).toThrow("not a regular folder");
});

test("a link that leads to itself is no place either", () => {
  const link = join(folder, "loop");
  symlinkSync(link, link);
  for (const kind of ["file", "folder"] as const)
    expect(() => checkOutput(link, kind)).toThrow(/^invalid output: .*ELOOP/);
});

test("a folder's stamp follows its files, and no link in it", () => {
  const within = folderOnDisk({ "deep/a.md": "one" });
  symlinkSync(join(within, "loop"), join(within, "loop"));
  symlinkSync(within, join(within, "deep/up"));
  const before = stampOf(within);
  expect(stampOf(within)).toBe(before);
  writeFileSync(join(within, "deep/a.md"), "other");
  expect(stampOf(within)).not.toBe(before);
  expect(stampOf(join(within, "missing"))).toBeUndefined();
});
