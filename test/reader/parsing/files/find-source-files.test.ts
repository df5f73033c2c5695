import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSourceFiles, MAX_FILES } from "../../../../src/reader/parsing/files/find-source-files.js";
import { decodeText, readSourceFile } from "../../../../src/reader/parsing/files/read-file.js";
import { folderWith, folderWithLinks } from "../../../support/folder.js";

const hasMkfifo = ["/usr/bin/mkfifo", "/bin/mkfifo"].some((path) => existsSync(path));
const namesIn = async (folder: string) =>
  (await findSourceFiles(folder)).files.map(({ name }) => name).sort();

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

const unreadIn = async (folder: string) =>
  Object.fromEntries((await findSourceFiles(folder)).unread.map(({ name, reason }) => [name, reason]));

it("follows no symlink, and names it", async () => {
  const outside = folderWith({ "passwd.md": "root" });
  const folder = folderWith({ "a.md": "a" });
  symlinkSync(join(outside, "passwd.md"), join(folder, "link.md"));
  symlinkSync(outside, join(folder, "sub"));
  expect(await namesIn(folder)).toEqual(["a.md"]);
  expect(await unreadIn(folder)).toEqual({ "link.md": "a symbolic link", sub: "a symbolic link" });
  expect(readSourceFile(folder, "link.md")).toEqual({ reason: "it cannot be read" });
});

it("names what is not read, with the reason, and no dot-file or ignored file", async () => {
  const folder = folderWith({
    "a.md": "a",
    "manual.html": "x".repeat(8_388_608),
    "big.md": "x".repeat(8_388_609),
    "big.pdf": "x".repeat(8_388_609),
    "p.png": "x",
    "costs.XLSX": "PK",
    "costs.csv": "port,fee",
    "notes.ipynb": "{}",
    "talk.pptx": "PK",
    "line\nbreak.md": "x",
    "node_modules/p/index.js": "p",
    ".env": "SECRET",
    ".gitignore": "*.log",
    "b.log": "b",
    "empty.md": "",
  });
  expect(await namesIn(folder)).toEqual(["a.md", "big.pdf", "costs.csv", "manual.html"]);
  expect(readSourceFile(folder, "big.pdf")).toHaveLength(8_388_609);
  expect(await unreadIn(folder)).toEqual({
    "big.md": "larger than 8 MiB",
    "p.png": "not text",
    "costs.XLSX": "it is a spreadsheet; save it as CSV",
    "notes.ipynb": "it is a notebook; convert it to Markdown",
    "talk.pptx": "it is a set of slides; save it as PDF",
    "line?break.md": "its name has a line break or another control character",
    node_modules: "a folder of packages",
  });
});

it.each<[string, string | Uint8Array, object]>([
  ["UTF-8", "é", { text: "é" }],
  ["a byte order mark", Buffer.from("\ufeffé"), { text: "é" }],
  ["UTF-16 with one", Buffer.from("\ufeffé", "utf16le"), { text: "é" }],
  ["a page that names its charset", page("iso-8859-2", 0xb9), { text: expect.stringMatching(/š$/) }],
  [
    "an XML page that does",
    Buffer.from('<?xml version="1.0" encoding="windows-1252"?>\x80', "latin1"),
    { text: expect.stringMatching(/€$/) },
  ],
  ["one that is not in that charset", page("utf-8", 0xe9), { reason: "not UTF-8 text" }],
  ["one that names UTF-16 in single bytes", page("utf-16", 0x61), { text: expect.stringMatching(/a$/) }],
  ["one with an unknown charset", page("klingon", 0x61), { reason: "its charset is unknown: klingon" }],
  ["bytes of no charset", Uint8Array.of(0xe9, 0x20), { reason: "not UTF-8 text" }],
  ["binary data", "a\0b", { reason: "not text" }],
])("reads %s", (_name, content, expected) => {
  expect(decodeText(Buffer.from(content))).toEqual(expected);
});

function page(charset: string, byte: number): Uint8Array {
  return Buffer.concat([Buffer.from(`<html><meta charset="${charset}"><p>`), Uint8Array.of(byte)]);
}

it("stops at 5,000 files, and says so", async () => {
  const { files: found, stopped } = await findSourceFiles(folderWithLinks("x", MAX_FILES + 1));
  expect(found).toHaveLength(5_000);
  expect(stopped).toBe("stopped at 5000 files");
});

it("stops at 64 MiB, and says so", async () => {
  const { files: found, stopped } = await findSourceFiles(folderWithLinks("x".repeat(1_000_000), 70));
  expect(found).toHaveLength(67);
  expect(stopped).toBe("stopped at 64 MiB");
});

it("reads nothing that is excluded: not a folder, not a file, and nothing if the folder itself is", async () => {
  const folder = folderWith({ "a.md": "a", key: "k", "data/journal.jsonl": "j", "data2/b.md": "b" });
  const sources = await findSourceFiles(folder, [
    join(folder, "data"),
    join(folder, "key"),
    join(folder, "missing"),
  ]);
  expect(sources.files.map(({ name }) => name).sort()).toEqual(["a.md", "data2/b.md"]);
  expect(await findSourceFiles(join(folder, "data"), [folder])).toEqual({ files: [], unread: [] });
});

it("knows an excluded folder by where it is, not by how it is written", async () => {
  const folder = folderWith({ "a.md": "a", "data/journal.jsonl": "j" });
  const other = folderWith();
  symlinkSync(join(folder, "data"), join(other, "link"));
  expect((await findSourceFiles(folder, [join(other, "link")])).files.map(({ name }) => name)).toEqual([
    "a.md",
  ]);
});

it.skipIf(!hasMkfifo)("waits for no named pipe (needs mkfifo)", async () => {
  const folder = folderWith({ "a.md": "a", "sub/b.md": "b" });
  execFileSync("mkfifo", [
    join(folder, ".gitignore"),
    join(folder, "sub/.gitignore"),
    join(folder, "pipe.md"),
  ]);
  expect(await namesIn(folder)).toEqual(["a.md", "sub/b.md"]);
  expect(readSourceFile(folder, "pipe.md")).toEqual({ reason: "it cannot be read" });
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
  const { files, unread } = await findSourceFiles(folder);
  expect(files.map(({ name }) => name)).toEqual(["a.md"]);
  expect(unread).toEqual([{ name: "sub", reason: "its .gitignore is too large" }]);
});
