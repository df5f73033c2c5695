import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { layOutMarkdown } from "../../../../src/core/markdown/terminal/lay-out-markdown.js";
import { measureColumns } from "../../../../src/core/text/text-width.js";
import { anyText } from "../../../support/any-text.js";

const plain = (markdown: string, columns = 60) =>
  layOutMarkdown(markdown, { columns, colour: false, hyperlinks: false }) ?? "not laid out";

describe("laid out:", () => {
  test.each([
    ["first heading", "# Heat pumps", "Heat pumps\n══════════\n"],
    ["second heading", "## 日本", "日本\n────\n"],
    ["further headings", "#### A *b*", "#### A b\n"],
    ["a paragraph", "Some *words*\nof `code`.\n\nMore.", "Some words of code.\n\nMore.\n"],
    ["plain text keeps its lines", "one\n  two", "one\n  two\n"],
    ["a tight list", "- a\n- b\n  - c", "• a\n• b\n  • c\n"],
    ["a loose list", "1. a\n\n2. b", "1. a\n\n2. b\n"],
    ["numbers align", "9. a\n10. b", " 9. a\n10. b\n"],
    ["tasks", "- [x] a\n- [ ] b", "[x] a\n[ ] b\n"],
    ["an empty item", "- \n- a", "•\n• a\n"],
    ["a quote", "> a\n>\n> > b", "│ a\n│\n│ │ b\n"],
    ["code", "```\nif:\n\tx\n```", "    if:\n        x\n"],
    ["HTML", "a <b>c</b>\n\n<hr>\n\n*d*", "a <b>c</b>\n\n<hr>\n\nd\n"],
    [
      "footnotes",
      "A[^1], b[^n] and [^2].\n\n[^1]: See\nhere.\n[^N]: *By* hand",
      "A¹, b[n] and [^2].\n\n¹ See here.\n\n[n] By hand\n",
    ],
    ["a footnote with an address", "A[^12].\n\n[^12]: https://x.y/z", "A¹².\n\n¹² https://x.y/z\n"],
    ["code in a quotation", "`a`\n\n> - `b` *c*", "a\n\n│ • b c\n"],
    [
      "footnotes beside one another",
      "*A*[^1][^23][^n].\n\n[^1]: B\n[^23]: C",
      "A¹ ²³ [^n].\n\n¹ B\n\n²³ C\n",
    ],
    ["raised and lowered text", "H<sub>2</sub>O, x<sup>-2</sup>, 1<sup>er</sup> *a*", "H₂O, x⁻², 1er a\n"],
    [
      "works that are listed line by line",
      "# R\n\n[1] https://x.y/a\n[2] https://x.y/b",
      "R\n═\n\n[1] https://x.y/a\n[2] https://x.y/b\n",
    ],
    [
      "an address as it is copied from ChatGPT",
      "A ([B](https://x.y/#:~:text=c d (e) f,g)).",
      "A (B [1]).\n\n[1] https://x.y/#:~:text=c%20d%20(e)%20f,g\n",
    ],
    ["a break", "*a*  \nb", "a\nb\n"],
    ["a link", "[a](https://x.y/z)", "a [1]\n\n[1] https://x.y/z\n"],
    ["a link used twice", "[a](https://x.y/) [b](https://x.y/)", "a [1] b [1]\n\n[1] https://x.y/\n"],
    ["an image", "![a](https://x.y/z.png)", "a [1]\n\n[1] https://x.y/z.png\n"],
    ["an address as text", "*see* https://x.y/z", "see https://x.y/z\n"],
    ["a mail address", "*see* a@x.y", "see a@x.y\n"],
    [
      "a number that is its own",
      "a [1](https://x.y/) [1](https://x.z/)",
      "a [1] 1 [2]\n\n[1] https://x.y/\n[2] https://x.z/\n",
    ],
    ["a citation that is its number", "[[1]](https://x.y/)", "[1]\n\n[1] https://x.y/\n"],
    ["an address that may not be opened", "[a](javascript:b)", "a (javascript:b)\n"],
    ["escapes", "*a* \u001b[31m &#27;[2J \u009b \u202e", "a \\u{1b}[31m \\u{1b}[2J \\u{9b} \\u{202e}\n"],
    ["joiners are text", "*a* \u200c\u200d", "a \u200c\u200d\n"],
    ["carriage returns", "a\rb\r\n# c\r\n", "a b\n\nc\n═\n"],
  ])("%s", (_name, markdown, laidOut) => {
    expect(plain(markdown)).toBe(laidOut);
  });

  test("a rule", () => {
    expect(plain("---", 40)).toBe(`${"─".repeat(40)}\n`);
    expect(plain("---", 200)).toBe(`${"─".repeat(100)}\n`);
  });

  test("not if it would become many times as long", () => {
    expect(plain("---\n".repeat(85_000), 100)).toBe("not laid out");
  });

  test("a number never leaves its link", () => {
    expect(plain("aaaa bbbb cccc [dddd](https://x.y/)", 20)).toBe(
      "aaaa bbbb cccc\ndddd [1]\n\n[1] https://x.y/\n",
    );
  });

  test("tables align, wrap, and fall into entries where their words do not fit", () => {
    const table = "|Name|Cost|Note|\n|-|-:|:-:|\n|日本|9|short|\n|France|1,000|some longer remark here|";
    expect(plain(table, 60)).toBe(
      [
        "Name   │  Cost │          Note",
        "───────┼───────┼────────────────────────",
        "日本   │     9 │          short",
        "France │ 1,000 │ some longer remark here",
        "",
      ].join("\n"),
    );
    expect(plain(table, 32).split("\n").slice(2, 6)).toEqual([
      "日本   │     9 │      short",
      "───────┼───────┼────────────────",
      "France │ 1,000 │   some longer",
      "       │       │   remark here",
    ]);
    expect(plain(table, 16)).toBe(
      "Name: 日本\nCost: 9\nNote: short\n\nName: France\nCost: 1,000\nNote: some\n  longer remark\n  here\n",
    );
  });
});

const ours = /\u001b\[[\d;]+m|\u001b\]8;;[\x21-\x7e]*\u001b\\/g;
const acts =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u;
const fragment = fc.constantFrom(
  ...[
    "# ",
    "> ",
    "- ",
    "1. ",
    "\n",
    "\n\n",
    "|",
    "|-|-|\n",
    "*",
    "**",
    "`",
    "```\n",
    "[",
    "](",
    ")",
    "![",
    "<",
    ">",
  ],
  ...["\u001b[2J", "\u001b]8;;x\u0007", "\u009b31m", "\u202e", "\ud800", "\r", "\t", "\b", "&#27;", "&#x9b;"],
  ...[
    "日本語。",
    "e\u0301",
    "🚀",
    "\u200d",
    "javascript:a",
    "https://x.y/",
    "    ",
    "<script>",
    "word ",
    "a",
  ],
);
const hostile = fc.array(fc.oneof(fragment, anyText), { maxLength: 40 }).map((p) => p.join(""));

test("no input acts on a terminal, and no line is too wide", () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 40, max: 120 }), fc.boolean(), (markdown, columns, hyperlinks) => {
      const text = layOutMarkdown(markdown, { columns, colour: true, hyperlinks })?.replace(ours, "") ?? "";
      expect(text).not.toMatch(acts);
      const widest = Math.max(...text.split("\n").map(measureColumns));
      expect(widest).toBeLessThanOrEqual(Math.min(100, columns));
    }),
    { numRuns: 200 },
  );
});
