import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import {
  appendLine,
  listFolder,
  makePrivate,
  makePrivateFolder,
  makeSharedFolder,
  openRegular,
  overwriteBytes,
  readIfExists,
  replaceFile,
  UnsuitableFileError,
} from "../../../src/core/files/file-access.js";
import { folderWith } from "../../support/folder.js";

const modeOf = (path: string) => statSync(path).mode & 0o777;

let folder: string;
beforeEach(() => {
  folder = folderWith();
});

test("folders are made for the owner alone, and those that exist stay as they are", () => {
  chmodSync(folder, 0o755);
  makePrivateFolder(join(folder, "a", "b"));
  expect([modeOf(folder), modeOf(join(folder, "a")), modeOf(join(folder, "a", "b"))]).toEqual([
    0o755, 0o700, 0o700,
  ]);
  expect(() => makePrivateFolder("/proc/research-test")).toThrow(/ENOENT/);
  writeFileSync(join(folder, "file"), "");
  expect(() => makePrivateFolder(join(folder, "file"))).toThrow("it is not a folder");
  expect(() => makePrivateFolder(join(folder, "file", "below"))).toThrow(/ENOTDIR/);
});

test("a folder is made although another process makes the one above it at that moment", () => {
  const above = join(folderWith(), "a");
  const { mkdirSync: real } = fs;
  fs.mkdirSync = ((...[path, mode]: Parameters<typeof real>) => {
    const isFirst = path === join(above, "b") && !existsSync(above);
    try {
      return real(path, mode);
    } finally {
      if (isFirst) real(above);
    }
  }) as typeof real;
  syncBuiltinESMExports();
  try {
    makePrivateFolder(join(above, "b", "c"));
  } finally {
    fs.mkdirSync = real;
    syncBuiltinESMExports();
  }
  expect(existsSync(join(above, "b", "c"))).toBe(true);
});

test("a folder for what may be shared has the modes that the umask gives", () => {
  mkdirSync(join(folder, "as-usual"));
  makeSharedFolder(join(folder, "a", "b"));
  makeSharedFolder(join(folder, "a", "b"));
  const usual = modeOf(join(folder, "as-usual"));
  expect([modeOf(join(folder, "a")), modeOf(join(folder, "a", "b"))]).toEqual([usual, usual]);
});

test("a file is replaced whole, private, and nothing else stays", () => {
  const path = join(folder, "file");
  replaceFile(path, "one");
  replaceFile(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(modeOf(path)).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["file"]);
  // A process with the same id was killed here before.
  writeFileSync(`${path}.${process.pid}.draft`, "torn");
  replaceFile(path, "three");
  expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["three", ["file"]]);
  expect(() => replaceFile(join(folder, "missing", "file"), "x")).toThrow(/ENOENT/);
  mkdirSync(join(folder, "taken"));
  expect(() => replaceFile(join(folder, "taken"), "x")).toThrow();
  expect(readdirSync(folder)).toEqual(["file", "taken"]);
});

test("bytes are overwritten where they are", () => {
  const path = join(folderWith(), "file");
  writeFileSync(path, "0123456789");
  overwriteBytes(path, 3, "abc");
  expect(readFileSync(path, "utf8")).toBe("012abc6789");
});

test("a line is appended between line breaks, to a private file", () => {
  const path = join(folderWith(), "log");
  appendLine(path, "one", { sync: true });
  appendLine(path, "two", { sync: false });
  expect(readFileSync(path, "utf8")).toBe("\none\n\ntwo\n");
  expect(modeOf(path)).toBe(0o600);
});

test("what others may read is restricted", () => {
  const path = join(folderWith(), "file");
  writeFileSync(path, "", { mode: 0o640 });
  expect([makePrivate(path), modeOf(path), makePrivate(path)]).toEqual([true, 0o600, false]);
});

test("a missing file has no text, a missing folder no names", () => {
  writeFileSync(join(folder, "b"), "text");
  writeFileSync(join(folder, "a"), "");
  expect(readIfExists(join(folder, "b"))).toBe("text");
  expect(readIfExists(join(folder, "missing"))).toBeUndefined();
  expect(readIfExists(join(folder, "b", "below"))).toBeUndefined();
  expect(listFolder(folder)).toEqual(["a", "b"]);
  expect(listFolder(join(folder, "missing"))).toEqual([]);
  expect(() => listFolder(join(folder, "a"))).toThrow(/ENOTDIR/);
});

test("only a regular file of a sensible size is read or appended to", () => {
  const fifo = join(folder, "fifo");
  const zero = join(folder, "zero");
  const large = join(folder, "large");
  execFileSync("mkfifo", [fifo]);
  symlinkSync("/dev/zero", zero);
  execFileSync("truncate", ["-s", "2M", large]);
  for (const path of [fifo, zero, folder]) {
    expect(() => readIfExists(path)).toThrow(UnsuitableFileError);
    expect(() => openRegular(path)).toThrow("not a regular file");
  }
  expect(() => appendLine(fifo, "x", { sync: false })).toThrow();
  expect(() => appendLine(zero, "x", { sync: false })).toThrow(
    expect.objectContaining({
      ...{ name: "UnsuitableFileError", message: `${zero} cannot be used: it is not a regular file` },
    }),
  );
  expect(readIfExists(large, 2 << 20)).toHaveLength(2 << 20);
  expect(() => readIfExists(large, 1 << 20)).toThrow(`${large} cannot be used: it is larger than 1 MiB`);
});

test.runIf(existsSync("/proc/self/fd"))("no descriptor stays open (needs /proc/self/fd)", () => {
  const [path, fifo] = [join(folder, "file"), join(folder, "fifo")];
  execFileSync("mkfifo", [fifo]);
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let i = 0; i < 10; i++) {
    replaceFile(path, "text");
    appendLine(path, "line", { sync: true });
    overwriteBytes(path, 0, "T");
    readIfExists(path);
    expect(() => readIfExists(path, 1)).toThrow();
    expect(() => openRegular(fifo)).toThrow();
    expect(() => appendLine("/dev/null", "x", { sync: false })).toThrow();
  }
  expect(open()).toBeLessThan(before + 10);
});
