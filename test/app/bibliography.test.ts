import { describe, expect, test } from "vitest";
import { buildBibliography, listNamedPages } from "../../src/app/bibliography.js";
import type { Result } from "../../src/client/workflows/fetch-results.js";
import { checkValue } from "../../src/core/json-schema/check-in-thread.js";

const result = (value: unknown, data: Record<string, unknown> = {}): Result => ({
  ...{ data, value, exact: typeof value === "string" ? {} : (value as Record<string, unknown>) },
});
const urls = (...given: Parameters<typeof result>) => listNamedPages(result(...given)).map(({ url }) => url);

/** Of https://resource.citationstyles.org/schema/latest/input/json/csl-data.json what is used here, and nothing else is allowed. */
const CSL_DATA = {
  type: "array",
  items: {
    type: "object",
    properties: {
      type: { type: "string", enum: ["article", "document", "webpage"] },
      id: { type: ["string", "number"] },
      accessed: {
        properties: {
          "date-parts": {
            type: "array",
            items: { type: "array", items: { type: ["string", "number"] }, minItems: 1, maxItems: 3 },
            minItems: 1,
            maxItems: 2,
          },
        },
        additionalProperties: false,
      },
      title: { type: "string" },
      URL: { type: "string" },
    },
    required: ["type", "id"],
    additionalProperties: false,
  },
};

/** Reads RIS as its specification has it: a tag, two blanks, a hyphen and a blank; from TY to ER; lines end with CR LF. */
function readRis(text: string): Record<string, string>[] {
  const records: Record<string, string>[] = [];
  for (const line of text.split("\r\n").slice(0, -1)) {
    const [, tag = "", value = ""] = /^([A-Z][A-Z0-9]) {2}- (.*)$/.exec(line) ?? [];
    if (tag === "") throw new Error(`no line of RIS: ${JSON.stringify(line)}`);
    if (tag === "TY") records.push({});
    Object.assign(records.at(-1) as object, { [tag]: value });
  }
  expect(text.endsWith("ER  - \r\n")).toBe(true);
  return records;
}

const SOURCES = [
  { url: "https://www.a.example/x/?utm_source=q", title: "  Tides,\n and more " },
  { url: "http://a.example/x", title: "The same page" },
  { url: "https://b.example/y?id=2", title: null },
  { url: "https://b.example/y?id=3" },
  { file: "notes.md", title: "A file" },
  { url: "javascript:alert(1)", title: "no page" },
  { url: ["https://c.example"], title: "no text" },
  null,
];
const DATA = {
  sources: SOURCES,
  citations: [
    { start: 0, end: 3, url: "https://b.example/y?id=2" },
    { field: "a", url: "https://d.example" },
  ],
};

test("as CSL-JSON each page stands once, with title, address and day", async () => {
  const { value, data } = buildBibliography(result("x", DATA), "csl", "2026-11-27T23:59:00.000Z");
  const accessed = { "date-parts": [[2026, 11, 27]] };
  const item = (URL: string, title = URL) => ({ id: URL, type: "webpage", title, URL, accessed });
  expect(JSON.parse(String(value))).toEqual([
    item("https://www.a.example/x/?utm_source=q", "Tides, and more"),
    ...["https://b.example/y?id=2", "https://b.example/y?id=3", "https://d.example"].map((url) => item(url)),
  ]);
  expect(data).toEqual(JSON.parse(String(value)));
  expect(await checkValue(CSL_DATA, String(value))).toBeUndefined();
  expect(await checkValue(CSL_DATA, JSON.stringify([{ type: "page" }]))).toBeDefined();
});

test("as RIS each page is a record", () => {
  const { value } = buildBibliography(result("x", DATA), "ris", "2026-01-05T00:00:00.000Z");
  const record = (UR: string, TI = UR) => ({ TY: "ELEC", TI, UR, Y2: "2026/01/05", ER: "" });
  expect(readRis(String(value))).toEqual([
    record("https://www.a.example/x/?utm_source=q", "Tides, and more"),
    ...["https://b.example/y?id=2", "https://b.example/y?id=3", "https://d.example"].map((url) =>
      record(url),
    ),
  ]);
});

test("no title and no address makes a record of its own", () => {
  const sources = [
    { url: "https://a.example/\r\nER  - ", title: "x\r\nER  - \u0085\0\r\nTY  - BOOK\u2028y" },
  ];
  const { value } = buildBibliography(result("x", { sources }), "ris", "2026-01-05");
  expect(readRis(String(value))).toEqual([
    { TY: "ELEC", TI: "x ER - TY - BOOK y", UR: "https://a.example/ ER -", Y2: "2026/01/05", ER: "" },
  ]);
});

test("without any page there is none", () => {
  expect(buildBibliography(result("no address"), "csl", "2026-01-05")).toMatchObject({
    value: "[]\n",
    data: [],
  });
  expect(buildBibliography(result("no address"), "ris", "2026-01-05").value).toBe("");
});

describe("without sources and citations the pages are those of the text", () => {
  test("with the words of a link as title", () => {
    const text =
      "It is in `notes.md:3`. " +
      "Twice a day [Tide](https://en.wikipedia.org/wiki/Tide_(physics)), see https://b.example/p. Again [2](https://c.example).\n\n" +
      "## Sources\n\n1. [The tide](https://en.wikipedia.org/wiki/Tide_(physics))\n2. Other: <https://d.example/?a=1&b=2>\n";
    expect(
      listNamedPages(result(text, { sources: [{ file: "a.md", title: "A file" }], citations: [] })),
    ).toEqual([
      { url: "https://en.wikipedia.org/wiki/Tide_(physics)", title: "Tide" },
      { url: "https://b.example/p", title: null },
      { url: "https://c.example", title: null },
      { url: "https://d.example/?a=1&b=2", title: null },
    ]);
  });

  test("of a structured result, too", () => {
    expect(urls({ a: "see https://a.example/1", b: ["https://b.example/2"] })).toEqual([
      "https://a.example/1",
      "https://b.example/2",
    ]);
  });
});

test("redirects of Gemini are pages of their own, and an invalid address is one", () => {
  const redirect = (n: number) => `https://vertexaisearch.cloud.google.com/grounding-api-redirect/${n}`;
  const sources = [redirect(1), redirect(2), redirect(1), "http://["].map((url) => ({ url }));
  expect(urls("x", { sources })).toEqual([redirect(1), redirect(2), "http://["]);
});
