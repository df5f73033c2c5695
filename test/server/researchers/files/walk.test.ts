import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readText } from "../../../../src/server/researchers/files/read-file.js";
import { findSources, MAX_FILES } from "../../../../src/server/researchers/files/walk.js";
import { folderWith } from "../../../support/folder.js";

const hasMkfifo = ["/usr/bin/mkfifo", "/bin/mkfifo"].some((path) => existsSync(path));
const namesIn = async (folder: string) => (await findSources(folder)).files.map(({ name }) => name).sort();

it("reads no dot-files, nothing that a .gitignore names, also a nested one, and no packages", async () => {
  const folder = folderWith({
    ".env": "SECRET",
    ".git/config": "x",
    ".gitignore": "*.log\nbuild/\n!kept.log\n",
    "a.md": "a",
    "line\nbreak.md": "x",
    "b.log": "b",
    "kept.log": "k",
    "build/out.md": "o",
    "node_modules/p/index.js": "p",
    "sub/.gitignore": "/secret.md\n!deep.log\n",
    "sub/secret.md": "s",
    "sub/deep.log": "d",
    "sub/more/secret.md": "s2",
  });
  expect(await namesIn(folder)).toEqual(["a.md", "kept.log", "sub/deep.log", "sub/more/secret.md"]);
});

it("keeps to the .gitignore of the repository around the folder", async () => {
  const folder = folderWith({ ".gitignore": "secret*\n", "sub/secret.md": "s", "sub/open.md": "o" });
  mkdirSync(join(folder, ".git"));
  expect(await namesIn(join(folder, "sub"))).toEqual(["open.md"]);
});

it("follows no symlink", async () => {
  const outside = folderWith({ "passwd.md": "root" });
  const folder = folderWith({ "a.md": "a" });
  symlinkSync(join(outside, "passwd.md"), join(folder, "link.md"));
  symlinkSync(outside, join(folder, "sub"));
  expect(await namesIn(folder)).toEqual(["a.md"]);
  expect(await readText(folder, "link.md")).toBeUndefined();
});

it("skips what is binary, and names what is over a mebibyte", async () => {
  const folder = folderWith({
    "a.md": "a",
    "big.md": "x".repeat(1_048_577),
    "nul.md": "a\0b",
    "latin.md": Uint8Array.of(0xe9, 0x20),
    "p.png": "x",
  });
  expect(await namesIn(folder)).toEqual(["a.md", "latin.md", "nul.md"]);
  expect((await findSources(folder)).skipped).toEqual(["big.md"]);
  expect(await readText(folder, "nul.md")).toBeUndefined();
  expect(await readText(folder, "latin.md")).toBeUndefined();
});

it("stops at 5,000 files, and says so", async () => {
  const files = Object.fromEntries(Array.from({ length: MAX_FILES + 1 }, (_, i) => [`f${i}.md`, "x"]));
  const { files: found, stopped } = await findSources(folderWith(files));
  expect(found).toHaveLength(5_000);
  expect(stopped).toBe("stopped at 5000 files");
});

it("stops at 64 MiB, and says so", async () => {
  const text = "x".repeat(1_000_000);
  const files = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`f${i}.md`, text]));
  const { files: found, stopped } = await findSources(folderWith(files));
  expect(found).toHaveLength(67);
  expect(stopped).toBe("stopped at 64 MiB");
});

it("reads nothing that is excluded: not a folder, not a file, and nothing if the folder itself is", async () => {
  const folder = folderWith({ "a.md": "a", key: "k", "data/journal.jsonl": "j", "data2/b.md": "b" });
  const found = await findSources(folder, [
    join(folder, "data"),
    join(folder, "key"),
    join(folder, "missing"),
  ]);
  expect(found.files.map(({ name }) => name).sort()).toEqual(["a.md", "data2/b.md"]);
  expect(await findSources(join(folder, "data"), [folder])).toEqual({ files: [], skipped: [] });
});

it("knows an excluded folder by where it is, not by how it is written", async () => {
  const folder = folderWith({ "a.md": "a", "data/journal.jsonl": "j" });
  const other = folderWith();
  symlinkSync(join(folder, "data"), join(other, "link"));
  expect((await findSources(folder, [join(other, "link")])).files.map(({ name }) => name)).toEqual(["a.md"]);
});

it.skipIf(!hasMkfifo)("waits for no named pipe (needs mkfifo)", async () => {
  const folder = folderWith({ "a.md": "a", "sub/b.md": "b" });
  execFileSync("mkfifo", [
    join(folder, ".gitignore"),
    join(folder, "sub/.gitignore"),
    join(folder, "pipe.md"),
  ]);
  expect(await namesIn(folder)).toEqual(["a.md", "sub/b.md"]);
  expect(await readText(folder, "pipe.md")).toBeUndefined();
});

it("takes a .gitignore that is a device for none", async () => {
  const folder = folderWith({ "a.md": "a" });
  symlinkSync("/dev/zero", join(folder, ".gitignore"));
  expect(await namesIn(folder)).toEqual(["a.md"]);
});

it("does not read a folder whose .gitignore is too large, and names it", async () => {
  const folder = folderWith({ "a.md": "a", "sub/b.md": "b" });
  const file = join(folder, "sub/.gitignore");
  writeFileSync(file, "");
  truncateSync(file, 2_000_000_000);
  const begun = performance.now();
  const { files, skipped } = await findSources(folder);
  expect(files.map(({ name }) => name)).toEqual(["a.md"]);
  expect(skipped).toEqual(["sub"]);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
