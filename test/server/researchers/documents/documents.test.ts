import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { strToU8, type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/clock.js";
import { cutDocument } from "../../../../src/server/researchers/documents/cut.js";
import { documentReader } from "../../../../src/server/researchers/documents/document.js";
import { Corpus } from "../../../../src/server/researchers/sources/corpus.js";
import { folderWith } from "../../../support/folder.js";

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

/** A PDF with a line of text on each page. */
function pdf(...pages: string[]): Uint8Array {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, i) => {
      const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * i} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const xref = file.length;
  const entries = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  return Buffer.from(
    `${file}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`,
  );
}

describe("a Word document", () => {
  it("is read by its headings, paragraphs, lists and tables, and not by what was deleted in it", async () => {
    const body = [
      paragraph("Limits", '<w:pStyle w:val="berschrift1"/>'),
      paragraph("Free &amp; open", '<w:pStyle w:val="Standard"/>'),
      paragraph("one item", '<w:numPr><w:ilvl w:val="0"/></w:numPr>'),
      "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>kept</w:t></w:r></w:p>",
      `<w:tbl><w:tblPr><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr>${row("Tier", "Most")}${row("Free", "10")}</w:tbl>`,
    ].join("");
    expect(await cutDocument({ name: "a.docx", bytes: docx(body) })).toMatchObject({
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
    expect(await cutDocument({ name: "a.docx", bytes })).toEqual({
      reason: expect.stringContaining(reason),
    });
  });
});

describe("a PDF", () => {
  it("is read by its pages, and one that is broken is left out with the reason", async () => {
    const read = documentReader(systemClock);
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

  it("needs a package, and its reason names the command where that lacks", () => {
    const folder = folderWith({ "sources/a.pdf": pdf("x"), "sources/b.md": "The tide is high." });
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
  const read = documentReader({ sleep: async () => {} });
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

it("a document that is stopped ends with the reason of the stop, and its thread with it", async () => {
  const stop = new AbortController();
  const reading = documentReader(systemClock)({ name: "a.pdf", bytes: pdf("x") }, stop.signal);
  const reason = new Error("stopped");
  stop.abort(reason);
  await expect(reading).rejects.toBe(reason);
});
