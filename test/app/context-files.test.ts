import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { extractContextFiles } from "../../src/app/context-files.js";
import { systemClock } from "../../src/core/clock.js";
import { hashSha256 } from "../../src/core/files/local-error.js";
import { folderWith } from "../support/folder.js";
import { pdf } from "../support/pdf.js";

const { signal } = new AbortController();
const docx = zipSync({
  "word/document.xml": strToU8(
    "<w:document><w:body><w:p><w:r><w:t>Opened at dawn.</w:t></w:r></w:p></w:body></w:document>",
  ),
});
const page = "<!doctype html><title>x</title><h1>Tides</h1><p>Two a <b>day</b>.</p><script>no()</script>";
const folder = folderWith({
  "notes.md": "# Notes\n\n- *one* 🌊\n",
  "plain.txt": "caf\u00e9",
  "utf16.txt": Buffer.from("\ufeffsix", "utf16le"),
  "deep/page.html": page,
  "a\nb.txt": "odd name",
  "letter.docx": docx,
  "paper.pdf": pdf("The harbour closes at dusk."),
  "picture.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]),
  "null.txt": "a\0b",
  "broken.pdf": "%PDF-1.4 broken",
  "broken.docx": "no archive",
  "blank.md": " \n\t\n",
  "app.html": `<!doctype html><div id="root"></div><script>${"x".repeat(500)}</script>`,
  "half.txt": "x".repeat(450 << 10),
  "more.txt": "x".repeat((450 << 10) + 1),
});
const read = (...sources: (string | Readable)[]) =>
  extractContextFiles(
    sources.map((source) => (typeof source === "string" ? join(folder, source) : source)),
    systemClock,
    signal,
  );

test.each([
  ["notes.md", "# Notes\n\n- *one* 🌊\n"],
  ["plain.txt", "caf\u00e9"],
  ["utf16.txt", "six"],
  ["deep/page.html", "Tides\n\nTwo a day."],
  ["letter.docx", "Opened at dawn."],
  ["paper.pdf", "page 1\n\nThe harbour closes at dusk."],
  ["a\nb.txt", "odd name"],
])("%j is read as text, under its base name", async (path, text) => {
  const name = path === "a\nb.txt" ? "a b.txt" : path.replace("deep/", "");
  expect(await read(path)).toEqual([{ name, chars: [...text].length, sha256: hashSha256(text), text }]);
});

test("stdin, and a pipe that has a path, are read to their end; a PDF is known without a name", async () => {
  const path = join(folderWith(), "pipe");
  execFileSync("mkfifo", [path]);
  spawn("sh", ["-c", `printf piped > ${path}`]);
  const files = await extractContextFiles(
    [Readable.from([Buffer.from("in"), Buffer.from("put")]), path],
    systemClock,
    signal,
  );
  expect(files.map(({ name, text }) => [name, text])).toEqual([
    ["stdin", "input"],
    ["pipe", "piped"],
  ]);
  expect((await read(Readable.from([pdf("Page.")])))[0]?.text).toBe("page 1\n\nPage.");
});

describe("no context is made of", () => {
  test.each([
    ["picture.png", "the context picture.png gives no text: not UTF-8 text"],
    ["null.txt", "the context null.txt gives no text: not text"],
    ["broken.pdf", /^the context broken.pdf gives no text: it cannot be read: /],
    ["broken.docx", /^the context broken.docx gives no text: it cannot be read: /],
    ["blank.md", "the context blank.md gives no text: it is blank"],
    ["app.html", "the context app.html gives no text: nearly no text was found in it"],
    ["missing.md", /^the context .*missing.md could not be read: no such file or folder \(ENOENT\)$/],
    [".", /^the context .* could not be read: it is a folder \(EISDIR\)$/],
  ])("%s", async (path, message) => {
    await expect(read("plain.txt", path)).rejects.toMatchObject({
      name: "LocalError",
      message: expect.stringMatching(message),
    });
  });

  test("more than 900 KiB of text in all, and a device without an end", async () => {
    expect(await read("half.txt", "half.txt")).toHaveLength(2);
    await expect(read("half.txt", "more.txt")).rejects.toMatchObject({
      code: "USAGE",
      message: "the context is over 900 KiB: 901 KiB of text",
    });
    await expect(extractContextFiles(["/dev/zero"], systemClock, signal)).rejects.toMatchObject({
      code: "USAGE",
    });
  });

  test("a pipe that is interrupted", async () => {
    const enough = new AbortController();
    const waiting = extractContextFiles([new Readable({ read() {} })], systemClock, enough.signal);
    enough.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow("interrupted");
  });
});
