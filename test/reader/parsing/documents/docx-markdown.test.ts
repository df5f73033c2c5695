import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readMarkdownClaims } from "../../../../src/reader/checking/citations.js";
import { convertDocxToMarkdown } from "../../../../src/reader/parsing/documents/docx-markdown.js";

const A = "https://a.example/x?y=1&z=2";
const run = (text: string, look = "") =>
  `<w:r><w:rPr>${look}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const raised = (text: string) => run(text, '<w:vertAlign w:val="superscript"/>');
const paragraph = (content: string, look = "") => `<w:p><w:pPr>${look}</w:pPr>${content}</w:p>`;
const item = (content: string, list: number) =>
  paragraph(content, `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr>`);
const link = (id: string, text: string) => `<w:hyperlink r:id="${id}">${run(text)}</w:hyperlink>`;
const row = (...cells: string[]) =>
  `<w:tr>${cells.map((one) => `<w:tc>${paragraph(one)}</w:tc>`).join("")}</w:tr>`;
const field = `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://b.example/y" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run("B")}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;

const docx = (body: string, notes = "") =>
  zipSync({
    "word/document.xml": strToU8(`<w:document><w:body>${body}</w:body></w:document>`),
    "word/styles.xml": strToU8('<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'),
    "word/footnotes.xml": strToU8(`<w:footnotes>${notes}</w:footnotes>`),
    "word/_rels/document.xml.rels": strToU8(
      `<Relationship Id="r1" Target="${A.replace("&", "&amp;")}" TargetMode="External"/><Relationship Id="r2" Target="media/a.png"/>`,
    ),
    "word/numbering.xml": strToU8(
      '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>' +
        '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>' +
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>',
    ),
  });
const read = (body: string, notes = "") =>
  readMarkdownClaims(convertDocxToMarkdown(docx(body, notes)).markdown, {
    citations: [],
    sources: [],
  }).claims.map(({ text, urls }) => [text, ...urls].join(" ← "));

test.each<[string, string, string[]]>([
  [
    "ChatGPT: links",
    paragraph(`${run("It takes 5 *big* things (")}${link("r1", "a.example")}${run(").")}`),
    [`It takes 5 *big* things. ← ${A}`],
  ],
  [
    "Word: links as fields",
    paragraph(`${run("It takes 5 ")}${field}${run(".")}`),
    ["It takes 5 B. ← https://b.example/y"],
  ],
  [
    "Gemini: superscripts and a numbered list of works",
    paragraph(run("Tides"), '<w:pStyle w:val="H1"/>') +
      paragraph(`${run("In 2024")}${raised("2")}${run(" it rose. It takes five.")}${raised("1")}`) +
      item(`${run("Full.")}${raised("1, 2")}`, 2) +
      `<w:tbl>${row(run("a"), run("b"))}${row(run("x"), `${run("4.2 metres")}${raised("2")}`)}</w:tbl>` +
      paragraph(run("Works cited"), '<w:pStyle w:val="H1"/>') +
      item(`${run("Tides, accessed June 12, 2025, ")}${link("r1", A.replace("&", "&amp;"))}`, 1) +
      item(`${run("Harbour, accessed June 12, 2025, ")}${field}`, 1),
    [
      "In 2024 it rose. ← https://b.example/y",
      `It takes five. ← ${A}`,
      `Full. ← ${A} ← https://b.example/y`,
      "x | 4.2 metres ← https://b.example/y",
    ],
  ],
  [
    "a number in brackets is one",
    paragraph(run("It takes 5 [1].")) + paragraph(run("[1] https://b.example/y_z")),
    ["It takes 5. ← https://b.example/y_z"],
  ],
])("%s", (_name, body, lines) => {
  expect(read(body)).toEqual(lines);
});

test("footnotes lead to their notes", () => {
  const body = paragraph(`${run("It takes 5.")}<w:r><w:footnoteReference w:id="2"/></w:r>`);
  const notes = `<w:footnote w:type="separator" w:id="0">${paragraph(run("-"))}</w:footnote><w:footnote w:id="2">${paragraph(run("https://b.example/y"))}</w:footnote>`;
  expect(read(body, notes)[0]).toBe("It takes 5. ← https://b.example/y");
});

test("text boxes are left out, and named", () => {
  const box = `<w:r><w:txbxContent>${paragraph(run("It takes 7."))}</w:txbxContent></w:r>`;
  expect(convertDocxToMarkdown(docx(paragraph(`${run("It takes 5.")}${box}`)))).toEqual({
    ...{ markdown: "It takes 5.", unread: ["text boxes"] },
  });
});

test.each<[string, string, string[]]>([
  ["one column, as Word writes it", '<w:cols w:space="720"/>', []],
  ["two columns", '<w:cols w:num="2" w:space="720"/>', ["columns"]],
  [
    "three columns of a part, and one of the rest",
    '<w:cols w:num="3" w:equalWidth="0"><w:col w:w="2880"/></w:cols></w:sectPr><w:sectPr><w:cols w:num="1"/>',
    ["columns"],
  ],
])("the text of columns is read as one, and they are named: %s", (_name, columns, unread) => {
  const body = `${paragraph(run("It takes 5."))}<w:sectPr>${columns}</w:sectPr>`;
  expect(convertDocxToMarkdown(docx(body))).toEqual({ markdown: "It takes 5.", unread });
});

test.each([new Uint8Array(9), zipSync({ "word/styles.xml": strToU8("<a/>") })])(
  "what is no document throws",
  (bytes) => {
    expect(() => convertDocxToMarkdown(bytes)).toThrow();
  },
);
