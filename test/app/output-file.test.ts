import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkOutputFile, writeOutputFile } from "../../src/app/output-file.js";
import { LocalError } from "../../src/core/files/local-error.js";
import { folderWith } from "../support/folder.js";
import { hasStrace, NEEDS_STRACE, researchWithFaults } from "../support/strace.js";
import { world } from "../support/world.js";

describe("a target is refused before anything is spent if", () => {
  test.each<[string, boolean, (path: string) => void, RegExp]>([
    ["it exists", false, (path) => writeFileSync(path, "old"), /exists already; --force/],
    ["it is a dangling symbolic link", false, (path) => symlinkSync("nowhere", path), /exists already/],
    ["it is a folder", true, (path) => mkdirSync(path), /is a folder/],
    ["it is a FIFO", true, (path) => void execFileSync("mkfifo", [path]), /not a file.*-o -/],
  ])("%s (force: %j)", (_, force, make, message) => {
    const path = join(folderWith(), "target");
    make(path);
    expect(() => checkOutputFile(path, force)).toThrow(message);
    expect(() => writeOutputFile(path, "new", force)).toThrow(LocalError);
  });

  test.each([
    ["its folder is missing", "missing/target"],
    ["its folder is a file", "file/target"],
    ["its name is too long", "x".repeat(256)],
  ])("%s", (_, name) => {
    const folder = folderWith();
    writeFileSync(join(folder, "file"), "");
    expect(() => checkOutputFile(join(folder, name), true)).toThrow(LocalError);
    expect(() => checkOutputFile(join(folder, name), true)).toThrow(
      `${join(folder, name)} cannot be written: `,
    );
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("nothing can be written in its folder", () => {
    expect(() => checkOutputFile("/proc/target", false)).toThrow(LocalError);
  });
});

test.each([1, 245, 255])("a name of %d bytes is written, and nothing else stays", (length) => {
  const folder = folderWith();
  const name = "x".repeat(length);
  checkOutputFile(join(folder, name), false);
  writeOutputFile(join(folder, name), "text", false);
  expect(readdirSync(folder)).toEqual([name]);
  expect(readFileSync(join(folder, name), "utf8")).toBe("text");
});

test("--force replaces a file, which keeps its mode, and a symbolic link by a file", () => {
  const folder = folderWith();
  writeFileSync(join(folder, "old"), "old");
  symlinkSync("old", join(folder, "link"));
  writeOutputFile(join(folder, "link"), "new", true);
  expect([readFileSync(join(folder, "old"), "utf8"), readFileSync(join(folder, "link"), "utf8")]).toEqual([
    "old",
    "new",
  ]);
  chmodSync(join(folder, "old"), 0o600);
  writeOutputFile(join(folder, "old"), "newer", true);
  expect(readFileSync(join(folder, "old"), "utf8")).toBe("newer");
  expect(lstatSync(join(folder, "old")).mode & 0o777).toBe(0o600);
});

/** One of its own for root, who could put a file in the place of the machine's; undefined where none can be made. */
function nullDevice(): string | undefined {
  if (process.getuid?.() !== 0) return "/dev/null";
  const path = join(folderWith(), "null");
  return spawnSync("mknod", [path, "c", "1", "3"]).status === 0 ? path : undefined;
}

const device = nullDevice();

test.skipIf(device === undefined)(
  "a device is written to, and stays one (needs the right to make it)",
  () => {
    writeOutputFile(device ?? "", "gone", true);
    expect(lstatSync(device ?? "").isCharacterDevice()).toBe(true);
  },
);

describe.skipIf(!hasStrace)(`a file system without hard links (${NEEDS_STRACE})`, () => {
  const NO_LINKS = ["link,linkat:error=EPERM"];

  test("the commands that write all work", async () => {
    const here = await world();
    writeFileSync(join(here.home, "rows.txt"), "row => COMPLETED\n");
    const run = (...args: string[]) =>
      researchWithFaults(NO_LINKS, args, { home: here.home, env: here.env }).done;
    const ends = await Promise.all([
      run("run", "x => COMPLETED", "-o", "result.md"),
      run("config", "set", "tier", "pro"),
      run("create", "x => COMPLETED", "--tier", "free"),
      run("batch", "rows.txt", "--out", "out"),
    ]);
    expect(ends.map(({ code, stderr }) => [code, code === 0 ? "" : stderr])).toEqual(Array(4).fill([0, ""]));
    expect(readFileSync(join(here.home, "result.md"), "utf8")).toContain("An answer");
    expect(readdirSync(here.home)).not.toContainEqual(expect.stringMatching(/^\.research-/));
  });
});
