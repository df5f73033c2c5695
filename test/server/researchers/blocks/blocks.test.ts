import { describe, expect, it } from "vitest";
import { blocksOf } from "../../../../src/server/researchers/blocks/blocks.js";

const shown = (name: string, text: string) =>
  blocksOf(name, text).map(
    ({ line, heading, kind, lines }) => `${line} [${heading}] ${kind}: ${lines.join(" ~ ")}`,
  );

describe("Markdown", () => {
  it.each([
    [
      "headings, paragraphs and items",
      "# A\n\none\ntwo\n\n## B\n\n- x\n- y",
      ["3 [A] prose: one ~ two", "8 [A / B] prose: - x", "9 [A / B] prose: - y"],
    ],
    ["underlined headings", "Title\n=====\n\nPart\n----\n\ntext", ["7 [Title / Part] prose: text"]],
    [
      "no comments, link definitions or rules",
      "a <!-- b --> c\n\n<!--\nhidden\n-->\n\n---\n\n[x]: https://example.org\n\nend",
      ["1 [] prose: a  c", "11 [] prose: end"],
    ],
    [
      "fenced code",
      "text\n\n```js\n# no heading\n```\nafter",
      ["1 [] prose: text", "4 [] code: # no heading", "6 [] prose: after"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(shown("a.md", text)).toEqual(expected);
  });

  it("rows of tables with their header and caption", () => {
    expect(blocksOf("a.md", "Limits:\n\n| Tier | Most |\n|---|---|\n| Free | 10 |")).toMatchObject([
      { line: 1, kind: "prose" },
      {
        line: 5,
        kind: "table",
        cells: ["Free", "10"],
        header: ["Tier", "Most"],
        caption: "Limits:",
        table: 3,
      },
    ]);
  });
});

describe("plain text", () => {
  it.each([
    [
      "numbered headings alone on their line",
      "  15. Disclaimer.\n\n  THERE IS NO\nWARRANTY.",
      ["3 [15. Disclaimer.] prose:   THERE IS NO ~ WARRANTY."],
    ],
    [
      "terms of AsciiDoc with what is indented below them",
      "OPTIONS\n-------\n--prune=<date>::\n\tPrune loose\n\tobjects.\n\nAfter.",
      ["3 [OPTIONS] prose: --prune=<date>:: ~ \tPrune loose ~ \tobjects.", "7 [OPTIONS] prose: After."],
    ],
    [
      "no page breaks and delimiters",
      "one\n\f\ntwo\n+\nthree\n\n====\n",
      ["1 [] prose: one", "3 [] prose: two", "5 [] prose: three"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(shown("a.txt", text)).toEqual(expected);
  });
});

describe("HTML", () => {
  it.each([
    [
      "text without tags, each line at its own",
      "<h1>A</h1><p>one <b>two</b>\nthree &amp; four</p><p>five</p>",
      ["1 [A] prose: one two ~ three & four", "2 [A] prose: five"],
    ],
    [
      "no scripts, styles, comments and navigation",
      '<nav>menu</nav><script>var a;</script><!-- c --><div class="toc">toc</div><p>text</p>',
      ["1 [] prose: text"],
    ],
    [
      "terms of lists of definitions",
      "<h2>S</h2><dl><dt>port</dt><dd>5432 by default.</dd></dl><p>end</p>",
      ["1 [S / port] prose: 5432 by default.", "1 [S] prose: end"],
    ],
    [
      "rows of tables",
      "<table><tr><th>Item</th><th>Limit</th></tr><tr><td>columns</td>\n<td>1,600</td></tr></table>",
      ["1 [] table: columns ~ 1,600"],
    ],
    [
      "a cell of several paragraphs, which loses nothing of the cells before it",
      "<table><tr><td>max</td>\n<td><p>Limit</p>\n<p>up to 5</p></td></tr></table>",
      ["3 [Limit] prose: up to 5", "1 [] table: max"],
    ],
    ["a tag that does not end", "a < b and <b", ["1 [] prose: a < b and <b"]],
    [
      "character references, none of which breaks a line",
      "<p>&para; caf&eacute; &#8364;5 a&nbsp;b&#10;c &unknown;</p>",
      ["1 [] prose: ¶ café €5 a b c &unknown;"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(shown("a.html", text)).toEqual(expected);
  });

  const rows = (text: string) =>
    blocksOf("a.html", text).map(({ cells, header, caption }) => ({ cells, header, caption }));
  const table = (...lines: string[]) =>
    `<table>${lines.map((line) => `<tr>${line}</tr>`).join("\n")}</table>`;
  it.each([
    [
      "rows that begin with a title, as those of a directive of Apache",
      table("<th>Default:</th><td>300</td>", "<th>Context:</th><td>server config</td>"),
      [{ cells: ["Default:", "300"] }, { cells: ["Context:", "server config"] }],
    ],
    [
      "such rows below the titles of columns, with an empty corner",
      table("<td></td><th>Free</th><th>Pro</th>", "<th>Stops</th><td>20</td><td>200</td>"),
      [{ cells: ["Stops", "20", "200"], header: ["", "Free", "Pro"] }],
    ],
    [
      "empty and wide cells, without closing tags",
      "<table><tr><th>A<th>B<th>C<tr><td><td>2<td>3<tr><td colspan=2>x<td>y</table>",
      [
        { cells: ["", "2", "3"], header: ["A", "B", "C"] },
        { cells: ["x", "", "y"], header: ["A", "B", "C"] },
      ],
    ],
    [
      "the title over several columns as a caption, until the next one",
      table(
        "<th>Limit</th><th>Value</th>",
        '<th colspan="2">Free</th>',
        "<td>creates</td><td>10</td>",
        '<th colspan="2">Pro</th>',
        "<td>creates</td><td>100</td>",
      ),
      [
        { cells: ["creates", "10"], header: ["Limit", "Value"], caption: "Free" },
        { cells: ["creates", "100"], header: ["Limit", "Value"], caption: "Pro" },
      ],
    ],
    [
      "titles without a row below them",
      table("<th>only</th><th>titles</th>"),
      [{ cells: ["only", "titles"] }],
    ],
    [
      "the caption of the table",
      "<table><caption>Limits</caption><tr><th>A</th></tr><tr><td>1</td></tr></table>",
      [{}, { cells: ["1"], header: ["A"], caption: "Limits" }],
    ],
  ])("tables: %s", (_name, text, expected) => {
    expect(rows(text)).toEqual(expected);
  });
});

describe("code", () => {
  it("keeps a comment with its declaration, however long the comment is", () => {
    const comment = Array.from({ length: 25 }, (_, i) => ` * line ${i}`);
    const text = ["const a = 1;", "/**", ...comment, " */", "export const MAX = 64;"].join("\n");
    expect(blocksOf("a.ts", text).map(({ line, lines }) => [line, lines.at(-1)])).toEqual([
      [1, "const a = 1;"],
      [2, "export const MAX = 64;"],
    ]);
  });
});
