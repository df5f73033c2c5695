import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeFailure } from "../../src/app/describe-failure.js";
import { chooseSavePath } from "../../src/mcp/save-path.js";
import { folderWith } from "../support/folder.js";

/** A folder that may be written to, and one beside it. */
function folders() {
  const home = realpathSync(folderWith({ "out/old.md": "mine", "out/sub/x": "" }));
  const [out, outside, link] = [join(home, "out"), join(home, "outside"), join(home, "link-to-out")];
  mkdirSync(outside);
  symlinkSync(out, link);
  symlinkSync(outside, join(out, "link"));
  symlinkSync("nowhere", join(out, "dangling.md"));
  return { out, outside, link };
}

test.each(["new.md", "sub/new.md", "./sub/../new.md", "..new.md", "..."])(
  "%s may be written below the folder, named from there or in full, and through a link to the folder",
  (wanted) => {
    const { out, link } = folders();
    const path = join(out, wanted);
    expect(chooseSavePath(out, wanted)).toBe(path);
    expect(chooseSavePath(out, path)).toBe(path);
    expect(chooseSavePath(link, wanted)).toBe(path);
    expect(chooseSavePath(link, path)).toBe(path);
    expect(chooseSavePath(link, join(link, wanted))).toBe(path);
  },
);

/** Calls chooseSavePath and returns the failure that the user sees. */
function failOf(folder: string | undefined, wanted: string) {
  try {
    return chooseSavePath(folder, wanted);
  } catch (error) {
    return describeFailure(error);
  }
}

test.each([
  ["the folder itself", ".", "NOT_ALLOWED", "the folder that the server may write to"],
  ["the one above", "..", "NOT_ALLOWED", "the folder that the server may write to"],
  ["one beside it", "../outside/a.md", "NOT_ALLOWED", "the folder that the server may write to"],
  ["one whose name begins alike", "../out2.md", "NOT_ALLOWED", "the folder that the server may write to"],
  ["one in full", "/a.md", "NOT_ALLOWED", "the folder that the server may write to"],
  ["one through a link", "link/a.md", "NOT_ALLOWED", "a symbolic link, which is not followed"],
  ["one that is there", "old.md", "LOCAL_IO", "exists already; name another file"],
  ["a folder", "sub", "LOCAL_IO", "exists already"],
  ["a link to nothing", "dangling.md", "LOCAL_IO", "exists already"],
  ["one in a folder that is not there", "missing/a.md", "LOCAL_IO", "missing cannot be written: "],
  ["one below a file", "old.md/a.md", "LOCAL_IO", "old.md"],
])("a path is refused: %s", (_what, wanted, code, message) => {
  const { out } = folders();
  expect(failOf(out, wanted)).toMatchObject({ code, message: expect.stringContaining(message) });
});

test("without a folder, or with one that is not there, nothing may be written", () => {
  const message = expect.stringContaining("--allow-dir");
  expect(failOf(undefined, "a.md")).toMatchObject({ code: "NOT_ALLOWED", message });
  const gone = join(folderWith(), "gone");
  expect(failOf(gone, "a.md")).toMatchObject({
    ...{ code: "LOCAL_IO", message: expect.stringContaining(`${gone} cannot be written: `) },
  });
});
