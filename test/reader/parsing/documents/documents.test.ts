import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { strToU8, type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { createDocumentReader } from "../../../../src/reader/parsing/documents/document-reader.js";
import { splitDocument } from "../../../../src/reader/parsing/documents/split-document.js";
import { Corpus } from "../../../../src/reader/searching/folder-corpus.js";
import { requireBuild } from "../../../support/build.js";
import { folderWith } from "../../../support/folder.js";
import { pdf } from "../../../support/pdf.js";

const never = new AbortController().signal;
const paragraph = (text: string, style = "") =>
  `<w:p><w:pPr>${style}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const row = (...cells: string[]) =>
  `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`;
const docx = (body: string, more: Zippable = {}) =>
  zipSync({
    "word/document.xml": strToU8(`<w:document><w:body>${body}</w:body></w:document>`),
    "word/styles.xml": strToU8(
      '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Standard"><w:name w:val="Normal"/></w:style>',
    ),
    ...more,
  });

describe("a Word document", () => {
  it("is read by its headings, paragraphs, lists and tables, and not by what was deleted in it", async () => {
    const body = [
      paragraph("Limits", '<w:pStyle w:val="berschrift1"/>'),
      paragraph("Free &amp; open", '<w:pStyle w:val="Standard"/>'),
      paragraph("one item", '<w:numPr><w:ilvl w:val="0"/></w:numPr>'),
      "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>kept</w:t></w:r></w:p>",
      `<w:tbl><w:tblPr><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr>${row("Tier", "Most")}${row("Free", "10")}</w:tbl>`,
    ].join("");
    expect(await splitDocument({ name: "a.docx", bytes: docx(body) })).toMatchObject({
      blocks: [
        { line: 2, lines: ["Free & open"], heading: "Limits" },
        { line: 3, lines: ["one item"] },
        { line: 4, lines: ["kept"] },
        { kind: "table", cells: ["Free", "10"], header: ["Tier", "Most"], heading: "Limits" },
      ],
    });
  });

  it.each<[string, Uint8Array, string]>([
    ["is not one", Buffer.from("PK no"), "it cannot be read: "],
    ["has no text", zipSync({ a: strToU8("x") }), "it cannot be read: it has no text"],
    [
      "unpacks to too much",
      docx("", { "word/styles.xml": [new Uint8Array(70 * 1_048_576), { level: 0 }] }),
      "it cannot be read: it unpacks to more than 64 MiB",
    ],
    [
      "has too many entries",
      docx("", Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`e${i}`, strToU8("")]))),
      "it cannot be read: it has more than 1000 entries",
    ],
  ])("that %s is left out with the reason", async (_name, bytes, reason) => {
    expect(await splitDocument({ name: "a.docx", bytes })).toEqual({
      reason: expect.stringContaining(reason),
    });
  });
});

describe("a PDF", () => {
  it("is read by its pages, and one that is broken is left out with the reason", async () => {
    const read = createDocumentReader(systemClock, 2);
    const [broken, whole] = await Promise.all([
      read({ name: "a.pdf", bytes: Buffer.from("%PDF-1.4 broken") }, never),
      read({ name: "b.pdf", bytes: pdf("The first page.", "The second page.") }, never),
    ]);
    expect(broken).toEqual({ reason: expect.stringContaining("it cannot be read: ") });
    expect(whole).toMatchObject({
      blocks: [
        { line: 1, lines: ["The first page."], heading: "page 1" },
        { line: 2, lines: ["The second page."], heading: "page 2" },
      ],
    });
  });

  const blocksOf = async (bytes: Uint8Array) => {
    const read = await splitDocument({ name: "a.pdf", bytes: new Uint8Array(bytes) });
    return "blocks" in read ? read.blocks.map(({ lines, heading }) => [heading, ...lines]) : [read.reason];
  };

  it("has its paragraphs for blocks, by their place on the page", async () => {
    const body = Array.from({ length: 30 }, (_, i) => `Line ${i} of a long paragraph.`);
    const lines = (...texts: [number, number, string, number?][]) => texts;
    const page = lines(
      [72, 740, "The harbour", 20],
      [72, 700, "It opens at dawn, which is"],
      [72, 686, "six in the summer."],
      // A gap.
      [72, 660, "It closes at dusk."],
      // An indented first line, after two lines that stand under each other.
      [72, 646, "It has done so since 1850."],
      [86, 632, "Boats pay by their length,"],
      [72, 618, "and by the day."],
      // A row.
      [72, 604, "small boat"],
      [300, 604, "5 euros"],
      [72, 590, "large boat"],
      [300, 590, "9 euros"],
    );
    const long = body.map((text, i): [number, number, string] => [72, 740 - 14 * i, text]);
    expect(await blocksOf(pdf(page, long))).toEqual([
      ["page 1 / The harbour", "It opens at dawn, which is", "six in the summer."],
      ["page 1 / The harbour", "It closes at dusk.", "It has done so since 1850."],
      ["page 1 / The harbour", "Boats pay by their length,", "and by the day."],
      ["page 1 / The harbour", "small boat   5 euros"],
      ["page 1 / The harbour", "large boat   9 euros"],
      ["page 2", ...body],
    ]);
  });

  it("has words that are split at the end of a line whole, if they stand elsewhere", async () => {
    const text = ["The agree-", "ment is well-", "known. An agreement is a con-", "tract, in short."];
    expect(await blocksOf(pdf(text.map((line, i) => [72, 740 - 14 * i, line])))).toEqual([
      ["page 1", "The agreement", "is well-", "known. An agreement is a con-", "tract, in short."],
    ]);
  });

  it("needs a package, and its reason names the command where that lacks", () => {
    const folder = folderWith({ "sources/a.pdf": pdf("x"), "sources/b.md": "The tide is high." });
    requireBuild();
    for (const part of ["bin", "dist", "package.json"])
      cpSync(join(import.meta.dirname, "../../../..", part), join(folder, part), { recursive: true });
    const report = execFileSync(
      process.execPath,
      [
        join(folder, "bin/research.js"),
        "try",
        "--sources",
        join(folder, "sources"),
        "When is the tide high?",
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    );
    expect(report).toContain(
      "a.pdf (it cannot be read: a PDF needs the package unpdf: npm install -g unpdf)",
    );
  });
});

it("a document that takes too long is left out, and its thread ended", async () => {
  // Its time is over at once.
  const read = createDocumentReader({ sleep: async () => {} }, 1);
  expect(await read({ name: "a.pdf", bytes: pdf("x") }, never)).toEqual({
    reason: "reading it took more than 30 s",
  });
});

it("documents of a folder are found and opened like files, and named if they cannot be read", async () => {
  const corpus = new Corpus({
    root: folderWith({
      "a.docx": docx(paragraph("The harbour opens at dawn.")),
      "b.pdf": pdf("The harbour closes at dusk."),
      "c.docx": "not a document",
      "d.csv": "port,depth\nHamburg,15\nBremen,9\n",
    }),
  });
  const [hit] = await corpus.search("when does the harbour close", 1);
  expect(hit?.passage).toMatchObject({
    id: "b.pdf",
    lines: ["The harbour closes at dusk."],
    heading: "page 1",
  });
  expect((await corpus.open("a.docx", 1, 1))?.passages).toMatchObject([
    { lines: ["The harbour opens at dawn."] },
  ]);
  expect((await corpus.search("depth of Bremen", 1))[0]?.passage).toMatchObject({
    id: "d.csv",
    line: 3,
    header: ["port", "depth"],
  });
  expect((await corpus.describe()).unread).toEqual([
    { name: "c.docx", reason: expect.stringContaining("it cannot be read: ") },
  ]);
});
