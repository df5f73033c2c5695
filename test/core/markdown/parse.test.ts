import { describe, expect, test } from "vitest";
import type { Inline, MarkdownBlock } from "../../../src/core/markdown/document.js";
import { parse } from "../../../src/core/markdown/parse.js";

const text = (words: string): Inline => ({ kind: "text", text: words });
const paragraph = (...inlines: Inline[]): MarkdownBlock => ({ kind: "paragraph", inlines });
const link = (address: string, ...inlines: Inline[]): Inline => ({ kind: "link", address, inlines });

describe("Markdown is read:", () => {
  test.each<[string, string, MarkdownBlock[]]>([
    ["a heading", "## A b", [{ kind: "heading", level: 2, inlines: [text("A b")] }]],
    ["emphasis", "*a*", [paragraph({ kind: "emphasis", inlines: [text("a")] })]],
    ["strong", "**a**", [paragraph({ kind: "strong", inlines: [text("a")] })]],
    ["deleted", "~~a~~", [paragraph({ kind: "deleted", inlines: [text("a")] })]],
    [
      "character references, none of them twice and no unknown one",
      "*a*&eacute;&#X43;&#0;&amp;lt; &unknown; &copy &#;",
      [paragraph({ kind: "emphasis", inlines: [text("a")] }, text("éC\ufffd&lt; &unknown; &copy &#;"))],
    ],
    ["a code span, its references kept", "`&lt;`", [paragraph({ kind: "code", text: "&lt;" })]],
    [
      "a reference and an escape",
      "`x` a &lt; \\* b",
      [paragraph({ kind: "code", text: "x" }, text(" a < * b"))],
    ],
    ["a break", "a  \nb", [paragraph(text("a"), { kind: "break" }, text("b"))]],
    ["a link", "[a](https://x.y?a&amp;b 't')", [paragraph(link("https://x.y?a&b", text("a")))]],
    ["a link defined elsewhere", "[a][1]\n\n[1]: https://x.y", [paragraph(link("https://x.y", text("a")))]],
    [
      "an address",
      "https://x.y?a&amp;b",
      [paragraph(link("https://x.y?a&amp;b", text("https://x.y?a&amp;b")))],
    ],
    ["an image", "![a](b.png)", [paragraph(link("b.png", text("a")))]],
    ["an image without words", "![](b.png)", [paragraph(link("b.png", text("b.png")))]],
    ["HTML in a line", "*a* <b>", [paragraph({ kind: "emphasis", inlines: [text("a")] }, text(" <b>"))]],
    [
      "HTML of its own",
      "# a\n\n<div>\n</div>\n",
      [
        { kind: "heading", level: 1, inlines: [text("a")] },
        { kind: "plain", text: "<div>\n</div>" },
      ],
    ],
    ["code", "```js\na\tb\n```", [{ kind: "code", text: "a\tb" }]],
    ["an unclosed fence", "```\na", [{ kind: "code", text: "a" }]],
    ["a quote", "> a", [{ kind: "quote", blocks: [paragraph(text("a"))] }]],
    ["a rule", "---", [{ kind: "rule" }]],
    [
      "a list",
      "3. a\n4. b",
      [
        {
          ...{ kind: "list", start: 3, loose: false },
          items: [
            { checked: undefined, blocks: [paragraph(text("a"))] },
            { checked: undefined, blocks: [paragraph(text("b"))] },
          ],
        },
      ],
    ],
    [
      "tasks",
      "- [x] a",
      [
        {
          ...{ kind: "list", start: undefined, loose: false },
          items: [{ checked: true, blocks: [paragraph(text("a"))] }],
        },
      ],
    ],
    [
      "a table",
      "|a|b|\n|-|:-:|\n|1|",
      [
        {
          ...{ kind: "table", align: [null, "center"] },
          ...{ head: [[text("a")], [text("b")]], rows: [[[text("1")], []]] },
        },
      ],
    ],
  ])("%s", (_name, markdown, blocks) => {
    expect(parse(markdown)).toEqual(blocks);
  });
});

describe("what is not Markdown stays as it came:", () => {
  test.each([
    ["nothing", ""],
    ["prose", "One line\nand another.\n\n  And more &amp; more.\n"],
    ["JSON", '{\n  "a": "**b**"\n}\n'],
    ["a JSON array", '["# a"]'],
    ["HTML", "<!DOCTYPE html>\n<html>\n</html>"],
  ])("%s", (_name, plain) => {
    expect(parse(plain)).toEqual([{ kind: "plain", text: plain }]);
  });
});
