import { expect, it } from "vitest";
import { readPageMetadata } from "../../../../src/reader/parsing/blocks/page-metadata.js";

it.each<[string, string, { title?: string; date?: string }]>([
  ["nothing", "<p>text</p>", {}],
  [
    "its title as a line of text",
    "text <TITLE>\n Pears &amp;\n  apples</TITLE> more",
    { title: "Pears & apples" },
  ],
  ["the first of two titles", "<title>Page</title><title>Picture</title>", { title: "Page" }],
  ["at most 300 characters of its title", `<title>${"x".repeat(301)}</title>`, { title: "x".repeat(300) }],
  ["no empty title", "<title> </title>", {}],
  ["a date", '<meta name="date" content="2024-03-05">', { date: "2024-03-05" }],
  ["a date without quotation marks", "<meta content=2024-03-05 name=date>", { date: "2024-03-05" }],
  ["a date in single ones", "<META ITEMPROP='datePublished' CONTENT=' 2024-03-05 '>", { date: "2024-03-05" }],
  ["the date of an element", '<time datetime="2024-03-05">in March</time>', { date: "2024-03-05" }],
  ["a date that no attribute holds", "<time>in March</time>", {}],
  [
    "its last change before its first, and the first of several",
    '<meta property="article:published_time" content="2023-01-01">' +
      '<meta property="article:modified_time" content="2024-03-05">' +
      '<meta property="og:updated_time" content="2025-01-01">',
    { date: "2024-03-05" },
  ],
  [
    "the date that only programs read, behind those of its head",
    '<script type="application/ld+json">{"datePublished": "2024-03-05T08:00:00Z"}</script>',
    { date: "2024-03-05T08:00:00Z" },
  ],
  [
    "no date of another kind",
    '<meta name="birth-date" content="2024-03-05"><p name="date" content="2024">',
    {},
  ],
  [
    "a date of at most 40 characters",
    `<meta name="date" content="${"1".repeat(41)}"><meta name="date" content="${"2".repeat(40)}">`,
    { date: "2".repeat(40) },
  ],
  ["nothing far behind its beginning", `${"<b>".repeat(2_000)}<title>Late</title>`, {}],
  ["what stands before that", `${"<b>".repeat(1_998)}<title>Early</title>`, { title: "Early" }],
])("a page says of itself %s", (_name, page, expected) => {
  expect(readPageMetadata(page)).toEqual(expected);
});
