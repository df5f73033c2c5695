import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOutputs } from "../../action/outputs.js";
import { folderWith } from "../support/folder.js";
import { parseOutputs } from "./runner.js";

test("values arrive as they are, and cannot set another output", () => {
  const path = join(folderWith({ out: "before=1\n" }), "out");
  const outputs = { plain: "x", empty: "", lines: "a\nb", hostile: "x\nfile=evil\nend-0\nfile<<E\nevil\nE" };
  writeOutputs(path, outputs);
  expect(parseOutputs(readFileSync(path, "utf8"))).toEqual({ before: "1", ...outputs });
});

test("no two delimiters are alike", () => {
  const path = join(folderWith(), "out");
  writeOutputs(path, { a: "1", b: "2" });
  const delimiters = Array.from(
    readFileSync(path, "utf8").matchAll(/<<(\S+)/g),
    ([, delimiter]) => delimiter,
  );
  expect(new Set(delimiters).size).toBe(2);
});
