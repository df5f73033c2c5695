import { describe, expect, test } from "vitest";
import type { Inline } from "../../../src/core/markdown/document-types.js";
import { parseMarkdown } from "../../../src/core/markdown/parse-markdown.js";

const text = (words: string) => ({ kind: "text", text: words });
const paragraph = (...inlines: object[]) => ({ kind: "paragraph", inlines });
const link = (address: string, ...inlines: object[]) => ({ kind: "link", isImage: false, address, inlines });

/** Blocks without their places; pieces of one text joined. */
function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all: Inline[] = [];
    for (const each of value.map(withoutPlaces) as Inline[]) {
      const last = all.at(-1);
      if (each?.kind === "text" && last?.kind === "text") last.text += each.text;
      else all.push(each);
    }
    return all;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name]) => !("end" in value && (name === "start" || name === "end")),
  );
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutPlaces(each)]));
}
const read = (markdown: string) => withoutPlaces(parseMarkdown(markdown).blocks);

describe("Markdown is read:", () => {
  test.each<[string, string, object[]]>([
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
    [
      "a link defined elsewhere",
      "[a][1]\n\n[1]: https://x.y",
      [paragraph(link("https://x.y", text("a"))), { kind: "definition", label: "1", address: "https://x.y" }],
    ],
    [
      "an address",
      "https://x.y?a&amp;b",
      [paragraph(link("https://x.y?a&amp;b", text("https://x.y?a&amp;b")))],
    ],
    ["an image", "![a](b.png)", [paragraph({ ...link("b.png", text("a")), isImage: true })]],
    ["an image without words", "![](b.png)", [paragraph({ ...link("b.png", text("b.png")), isImage: true })]],
    ["HTML in a line", "a <b>", [paragraph(text("a "), { kind: "tag", text: "<b>" })]],
    ["a break of HTML", "a<br/>b", [paragraph(text("a"), { kind: "break" }, text("b"))]],
    [
      "raised and lowered text",
      "a<sup>1</sup> b<sub>*2*</sub>",
      [
        paragraph(...[text("a"), { kind: "raised", inlines: [text("1")] }, text(" b")], {
          kind: "lowered",
          inlines: [{ kind: "emphasis", inlines: [text("2")] }],
        }),
      ],
    ],
    [
      "what is raised and never ends",
      "a<sup>1</sub>",
      [paragraph(text("a"), { kind: "tag", text: "<sup>" }, text("1"), { kind: "tag", text: "</sub>" })],
    ],
    [
      "footnotes",
      "a[^1][^b].\n\n[^1]: *See*\n   here",
      [
        paragraph(
          text("a"),
          { kind: "note", label: "1", text: "¹" },
          { kind: "note", label: "b", text: "[^b]" },
          text("."),
        ),
        {
          ...{ kind: "note", label: "1", mark: "¹" },
          inlines: [{ kind: "emphasis", inlines: [text("See")] }, text("\n   here")],
        },
      ],
    ],
    [
      "works that are listed line by line",
      "A [1]\n[1] https://x.y\n\\[2\\] b\n[3](https://x.z)",
      [
        paragraph(text("A [1]\n")),
        paragraph(text("[1] "), link("https://x.y", text("https://x.y")), text("\n")),
        paragraph(text("[2] b\n"), link("https://x.z", text("3"))),
      ],
    ],
    [
      "an address with blanks and brackets, as it is copied from ChatGPT",
      "([A. B](https://x.y/#:~:text=The pool (north) of,is)). And [c](https://x.z/a b). And [d](https://x.z/(e f)). [g](x y)",
      [
        paragraph(
          ...[text("("), link("https://x.y/#:~:text=The pool (north) of,is", text("A. B")), text("). And ")],
          ...[link("https://x.z/a b", text("c")), text(". And ")],
          ...[link("https://x.z/(e f)", text("d")), text(". [g](x y)")],
        ),
      ],
    ],
    [
      "an address before quotation marks and punctuation of Chinese",
      "a https://x.y/a。b “https://x.y/b”, http://пример.example/в!",
      [
        paragraph(
          ...[text("a "), link("https://x.y/a", text("https://x.y/a")), text("。b “")],
          ...[link("https://x.y/b", text("https://x.y/b")), text("”, ")],
          ...[link("http://пример.example/в", text("http://пример.example/в")), text("!")],
        ),
      ],
    ],
    [
      "HTML of its own",
      "# a\n\n<div>\n</div>\n",
      [
        { kind: "heading", level: 1, inlines: [text("a")] },
        {
          ...{ kind: "html", text: "<div>\n</div>" },
          blocks: [
            paragraph({ kind: "tag", text: "<div>" }, text("\n")),
            paragraph({ kind: "tag", text: "</div>" }, text("\n")),
          ],
        },
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
            { checked: undefined, number: "3", blocks: [paragraph(text("a"))] },
            { checked: undefined, number: "4", blocks: [paragraph(text("b"))] },
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
          items: [{ checked: true, number: undefined, blocks: [paragraph(text("a"))] }],
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
    expect(read(markdown)).toEqual(blocks);
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
    expect(parseMarkdown(plain).form).toBe("plain");
  });
});
