import fc from "fast-check";
import { expect, test } from "vitest";
import type { MarkdownBlock, Span } from "../../../src/core/markdown/document-types.js";
import { parseMarkdown } from "../../../src/core/markdown/parse-markdown.js";

/** Everything in a document that has a text and a place. */
function textsIn(value: unknown): (Span & { kind: string; text: string })[] {
  if (typeof value !== "object" || value === null) return [];
  const texts = "kind" in value && (value.kind === "text" || value.kind === "tag") ? [value] : [];
  return [...texts, ...Object.values(value).flatMap(textsIn)] as ReturnType<typeof textsIn>;
}
const placed = (markdown: string, blocks: readonly MarkdownBlock[] = parseMarkdown(markdown).blocks) =>
  textsIn(blocks).map(({ start, end, text }) => [text, markdown.slice(start, end)]);

test.each([
  ["a paragraph", "One *two*\nthree **four _five_**"],
  ["a quotation and a list in it", "> One\n> - two\n>   three\n>\n>   1. four\n>\n> five *six*"],
  ["lazy lines", "> one\ntwo\n\n- three\nfour\n\t- five\n\n\t  six"],
  ["tasks", "- [x] one\n- [ ] two\n\n  three"],
  ["a list with tabs", "1.\tone\n\n\ttwo\n2.\tthree"],
  ["headings", "## one ##\n\ntwo\nthree\n===\n\n> # four"],
  ["a table", "| one | *two* |\n|--|:-:|\n| three |\n|four|`x` five|\n"],
  ["a table in a list", "- > | one | two |\n  > |---|---|\n  > | three | four |"],
  ["links", "[one *two*](https://x.y) <https://x.y/a> https://x.y/b [three][t] ~~four~~\n\n[t]: https://x.z"],
  ["footnotes", "one[^1]\n\n[^1]: two *three*\n    four\n[^b]:\n    five"],
  ["HTML", "<div>\none *two*\n</div>\n\n<p>three <b>four</b></p>\n\nfive<sup>six</sup>"],
  ["carriage returns", "one\r\ntwo\r\n\r\n> three\r\n> four\rfive"],
  ["what is too complex", "> - > - > - one *two*\nthree\n".repeat(3_000)],
])("each text stands at its place in %s", (_name, markdown) => {
  const all = placed(markdown);
  expect(all.map(([text]) => text?.trimEnd())).toEqual(all.map(([, source]) => source?.trimEnd()));
  expect(all.length).toBeGreaterThan(2);
});

test("a reference, an escape and an escaped bar have the place of what stands for them", () => {
  expect(placed("a &amp; b \\* c")).toEqual([
    ["a ", "a "],
    ["&", "&amp;"],
    [" b ", " b "],
    ["*", "\\*"],
    [" c", " c"],
  ]);
  expect(placed("|a|\n|-|\n|b \\| *c*|")).toEqual([
    ["a", "a"],
    ["b | ", "|b \\| *c*|"],
    ["c", "|b \\| *c*|"],
  ]);
  expect(placed("[\\[1\\] a](https://x.y)")).toEqual([["[1] a", "[\\[1\\] a](https://x.y)"]]);
});

const piece = fc.constantFrom(
  ...[
    "word ",
    "two words",
    "*em* ",
    "**strong** ",
    "`code` ",
    "[link](https://x.y/a) ",
    "\n",
    "\n\n",
    "- ",
    "  - ",
    "1. ",
  ],
  ...[
    "> ",
    "> > ",
    "# ",
    "\n\n| a | b |\n|---|---|\n| c ",
    "| ",
    "\t",
    "    ",
    "  \n",
    "&lt;",
    "[^1]",
    "<b>x</b>",
    "---\n",
    "\r\n",
  ],
);

test("what stands in a document as it is has its place, however blocks hold each other", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const markdown = pieces.join("");
      for (const [text = "", source = ""] of placed(markdown))
        if (text.length === source.length) expect(source.replaceAll("\r", "\n")).toBe(text);
    }),
    { numRuns: 2_000, seed: 7 },
  );
});
