import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkOutput } from "../../action/files.js";
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
