import { describe, expect, it } from "vitest";
import { readBlocks } from "../../../../src/reader/parsing/blocks/read-blocks.js";

const shown = (name: string, text: string) =>
  readBlocks(name, text).map(
    ({ line, heading, kind, lines }) => `${line} [${heading}] ${kind}: ${lines.join(" ~ ")}`,
  );

describe("Markdown", () => {
  it.each([
    [
      "headings, paragraphs and items",
      "# A\n\none\ntwo\n\n## B\n\n- x\n- y",
      ["3 [A] prose: one ~ two", "8 [A / B] prose: - x", "9 [A / B] prose: - y"],
    ],
    [
      "a line of its own that is bold as a whole as a title, as ChatGPT writes them, and no sentence or lead",
      "# A\n\n**Longest row**\n\nIt is 5.\n\n**Note:** x\n\n**It is so.**\n\n**two**\nlines\n\n## B\n\nb",
      [
        "5 [A / Longest row] prose: It is 5.",
        "7 [A / Longest row] prose: **Note:** x",
        "9 [A / Longest row] prose: **It is so.**",
        "11 [A / Longest row] prose: **two** ~ lines",
        "16 [A / B] prose: b",
      ],
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
    [
      "headings by their rank, without the marks behind them",
      "# A\n### B ##\nb\n## C #1\nc\n# D\nd\n#no\n####### seven",
      ["3 [A / B] prose: b", "5 [A / C #1] prose: c", "7 [D] prose: d ~ #no ~ ####### seven"],
    ],
    [
      "no headings of other formats",
      "== A\n\nUse:\n```\nb\n```\nc\n~~~\nd\n~~~\n\nTITLE\n\n1. Then",
      [
        "1 [] prose: == A",
        "3 [] prose: Use:",
        "5 [] code: b",
        "7 [] prose: c",
        "9 [] code: d",
        "12 [] prose: TITLE",
        "14 [] prose: 1. Then",
      ],
    ],
    [
      "no heading within a paragraph, a list or a quotation",
      "one\ntwo\n---\n\n- item\n---\n\n> said\n---",
      ["1 [] prose: one ~ two", "5 [] prose: - item", "8 [] prose: > said"],
    ],
    [
      "items of every kind",
      "* a\n+ b\n• c\n1. d\n12) e\n  - f\n  goes on\n-g",
      [
        "1 [] prose: * a",
        "2 [] prose: + b",
        "3 [] prose: • c",
        "4 [] prose: 1. d",
        "5 [] prose: 12) e",
        "6 [] prose:   - f ~   goes on ~ -g",
      ],
    ],
    [
      "code up to its own mark, and to the end without one",
      "~~~\na\n```\n\nb\n~~~\nc\n```x\nd",
      ["2 [] code: a ~ ```", "5 [] code: b", "7 [] prose: c", "9 [] code: d"],
    ],
    ["a mark that is too short is no code", "~x\n``y\nafter", ["1 [] prose: ~x ~ ``y ~ after"]],
    ["a bar within a line is no table", "a | b\n  | c |", ["1 [] prose: a | b", "2 [] table:   | c |"]],
    ["a mark within a line is no code", "```x```\nafter", ["1 [] prose: ```x``` ~ after"]],
    [
      "a comment over several paragraphs",
      "a <!-- b\n\nc\n\nd --> e <!-- f --> g",
      ["1 [] prose: a ", "5 [] prose:  e  g"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(shown("a.md", text)).toEqual(expected);
  });

  it("cells, split by each bar that has no backslash", () => {
    const cells = (text: string) => readBlocks("a.md", text).map((block) => block.cells);
    expect(cells("| a \\| b | `c | d` |  |\n|x|y")).toEqual([
      ["a \\| b", "`c", "d`", ""],
      ["x", "y"],
    ]);
  });

  it("a row as it stands, with nothing but what is known of its table", () => {
    expect(readBlocks("a.md", "|1|")).toStrictEqual([
      { line: 1, lines: ["|1|"], heading: "", kind: "table", cells: ["1"], table: 1 },
    ]);
  });

  it("titles above a line of as many dashes as a person would make", () => {
    const rule = (length: number) => `|${"-".repeat(length - 2)}|`;
    const headers = (text: string) => readBlocks("a.md", text).map(({ header }) => header);
    expect(headers(`|A|\n  ${rule(2_000)}  \n|1|`)).toEqual([["A"]]);
    expect(headers(`|A|\n${rule(2_001)}`)).toEqual([undefined, undefined]);
    expect(headers("|A|\n| |\n|:|")).toEqual([undefined, undefined, undefined]);
  });

  it("tables apart, each with its own titles, or with none", () => {
    const text = "|A|\n|:-:|\n|1|\n\n|B|\n|---|\n|2|\ntext\n|3|\n|4|";
    expect(readBlocks("a.md", text)).toMatchObject([
      { line: 3, cells: ["1"], header: ["A"], table: 1 },
      { line: 7, cells: ["2"], header: ["B"], table: 5 },
      { line: 8, kind: "prose" },
      { line: 9, cells: ["3"], table: 9, caption: "text" },
      { line: 10, cells: ["4"], table: 9, caption: "text" },
    ]);
    expect(readBlocks("a.md", text)[3]).not.toHaveProperty("header");
  });

  it("rows of tables with their header and caption", () => {
    expect(readBlocks("a.md", "Limits:\n\n| Tier | Most |\n|---|---|\n| Free | 10 |")).toMatchObject([
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
      "numbered headings that are indented or have a comma within them",
      "  1. Pears, apples  \n\na\n\n2. Pears, \n\nb",
      [
        "3 [1. Pears, apples] prose: a",
        "5 [1. Pears, apples] prose: 2. Pears, ",
        "7 [1. Pears, apples] prose: b",
      ],
    ],
    [
      "terms with what is indented below them",
      "OPTIONS\n-------\n--prune=<date>::\n\tPrune loose\n\tobjects.\n\nAfter.",
      ["3 [OPTIONS] prose: --prune=<date>:: ~ \tPrune loose ~ \tobjects.", "7 [OPTIONS] prose: After."],
    ],
    [
      "no page breaks and delimiters",
      "one\n\f\ntwo\n+\nthree\n\n====\n",
      ["1 [] prose: one", "3 [] prose: two", "5 [] prose: three"],
    ],
    [
      "headings in capitals, and below them those with the marks of Markdown",
      "USAGE\n\na\n\n## B\nc",
      ["3 [USAGE] prose: a", "6 [USAGE / B] prose: c"],
    ],
    [
      "underlined headings",
      "Part\n~~~~\n\na\n\nDeeper\n^^^^^^\nb\n\nNot\n^^^^^^^^^^\nc",
      [
        "4 [Part] prose: a",
        "8 [Part / Deeper] prose: b",
        "10 [Part / Deeper] prose: Not",
        "12 [Part / Deeper] prose: c",
      ],
    ],
    [
      "no headings in lines that are not alone, that go on, or that are long",
      `USAGE\na\n\n1. Then comes this,\n\n1. Then ${"x".repeat(80)}\n\nOF`,
      [
        "1 [] prose: USAGE ~ a",
        "4 [] prose: 1. Then comes this,",
        `6 [] prose: 1. Then ${"x".repeat(80)}`,
        "8 [] prose: OF",
      ],
    ],
    [
      "a rule as what parts a text, and no code after one that stands alone or before a blank line",
      "a\n\n-----\nb\n\n----\n\nc\n\n----\n\nd",
      ["1 [] prose: a", "4 [] prose: b", "8 [] prose: c", "12 [] prose: d"],
    ],
    [
      "headings below a rule, and none in an assignment",
      "a\n\n======\n1. FRUIT\n\nb\n\nMAX_PEARS=5\n\nc",
      ["1 [] prose: a", "6 [1. FRUIT] prose: b", "8 [1. FRUIT] prose: MAX_PEARS=5", "10 [1. FRUIT] prose: c"],
    ],
    [
      "no borders of a box",
      "+------+------+\n|pears |Use: a|\n+======+------+\n\na",
      ["2 [] table: |pears |Use: a|", "5 [] prose: a"],
    ],
    [
      "the terms of a manual with what is deeper below them, and none that is an item or long",
      `NAME\n       pear - a fruit\n\nUSE\n   Baskets\n       --max n\n           How many.\n\n           Or 5.\n\n       All of it.\n\n   - an item\n     of two lines\n\n     More.\n\n   ${"x".repeat(81)}\n     a\n\n     b\n\nend`,
      [
        "1 [] prose: NAME ~        pear - a fruit",
        "4 [] prose: USE ~    Baskets ~        --max n ~            How many.",
        "9 [USE / Baskets / --max n] prose:            Or 5.",
        "11 [USE / Baskets] prose:        All of it.",
        "13 [USE] prose:    - an item ~      of two lines",
        "16 [USE] prose:      More.",
        `18 [USE] prose:    ${"x".repeat(81)} ~      a`,
        "21 [USE] prose:      b",
        "23 [] prose: end",
      ],
    ],
    [
      "no heading in the titles of columns, or in a number far from the margin",
      "Name     Size\n=============\npear        5\n\n    2. Of pears\n\na",
      [
        "1 [] prose: Name     Size",
        "3 [] prose: pear        5",
        "5 [] prose:     2. Of pears",
        "7 [] prose: a",
      ],
    ],
    [
      "a single # as a comment or a prompt if the text does not begin like Markdown",
      "a\n\n# pear --all\n\n## B\n\nb",
      ["1 [] prose: a", "3 [] prose: # pear --all", "7 [B] prose: b"],
    ],
    ["a single # as a heading if it does", "\n# A\n\na\n\n# B\n\nb", ["4 [A] prose: a", "8 [B] prose: b"]],
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
      "a cell of several paragraphs as a text each, which loses nothing of the cells before it",
      "<table><tr><td>max</td>\n<td><p>Limit</p>\n<p>up to 5</p></td></tr></table>",
      ["2 [] prose: Limit", "3 [] prose: up to 5", "1 [] table: max"],
    ],
    ["a tag that does not end", "a < b and <b", ["1 [] prose: a < b and <b"]],
    [
      "no title of the page, which is in no head that ends",
      "<html><head><title>T</title><body>text",
      ["1 [] prose: text"],
    ],
    ["a line broken by a tag", "one<br>two", ["1 [] prose: one", "1 [] prose: two"]],
    [
      "nothing of what leads through the document, however deep it is",
      '<div class="toc"><div>a<img class="nav"></div>b</div>text<nav>c<div>d</nav>',
      ["1 [] prose: text"],
    ],
    ["an empty element of such a class hides nothing", '<img class="menu">text', ["1 [] prose: text"]],
    [
      "lists of definitions within others",
      "<dl><dt>a</dt><dd>1<dl><dt>b</dt><dd>2</dd></dl>3</dd><dt>c</dt><dd>4</dd></dl>",
      ["1 [a] prose: 1", "1 [a / b] prose: 2", "1 [a] prose: 3", "1 [c] prose: 4"],
    ],
    [
      "code as it is indented",
      "<pre>\n  a  b \r\n\n<i>  </i><i>c</i>\n  <i>d</i> </pre>\n<p>  e \t f\n   g </p>",
      ["2 [] code:   a  b ~  ~   c ~   d", "6 [] prose: e f ~ g"],
    ],
    [
      "code whose lines end with an element",
      "<pre><i>a:</i><br><i>  </i><i>b</i><br>\n<br>c<br></pre>",
      ["1 [] code: a:\n  b ~ \nc"],
    ],
    ["code in a cell", "<table><tr><td><pre>a\n  b</pre></td></tr></table>", ["1 [] code: a ~   b"]],
    [
      "a cell of several lines, and one with a break",
      "<table><tr><td> a \n b </td><td>c<br>d</td></tr></table>",
      ["1 [] table: a ~ b | c d"],
    ],
    [
      "text behind a table, or between its rows",
      "<table><tr><td>a</td>b<tr><td>c</table>d",
      ["1 [] prose: b", "1 [] table: a", "1 [] table: c", "1 [] prose: d"],
    ],
    [
      "a row and a cell without a table",
      "<tr><td>a</td></tr><caption>b</caption><p>c",
      ["1 [] prose: a", "1 [] prose: b", "1 [] prose: c"],
    ],
    ["text around lines that are empty", "<p>a\n\nb\n \n\nc</p>", ["1 [] prose: a ~  ~ b", "6 [] prose: c"]],
    [
      "no comments, declarations and instructions",
      "<!doctype html>\n<!-- > -->\n<?xml ?>\na<!x>b<!",
      ["4 [] prose: ab"],
    ],
    [
      "no scripts, but what stands behind one that is closed by itself",
      "<svg/>a<svg x><p>b</svg><script>var a;</script><style>p</style>c",
      ["1 [] prose: ac"],
    ],
    [
      "a paragraph that is bold as a whole as the title of what follows in its block, as in annual reports on EDGAR",
      "<h2>S</h2><ol><li><p><b>Longest <i>row</i></b></p>\n<p>It is 5.</p></li>\n<li><p><strong>Who writes?</strong>\n<p>One.\n</ol><p>end</p>",
      ["2 [S / Longest row] prose: It is 5.", "4 [S / Who writes?] prose: One.", "5 [S] prose: end"],
    ],
    [
      "such a title within a definition, under its term",
      "<dl><dt>t<dd><p><b>More</b></p><p>in</p><dt>u<dd>x</dl>",
      ["1 [t / More] prose: in", "1 [u] prose: x"],
    ],
    [
      "a bold beginning of an item or of a paragraph as the title of the rest of it",
      "<ul><li><b>Rows</b><p>It is 5.</p><li><b>Columns</b><br>It is 6.<li><b>bare</b></ul><p><b>Size</b><br>7</p><p>end</p>",
      [
        "1 [Rows] prose: It is 5.",
        "1 [Columns] prose: It is 6.",
        "1 [] prose: bare",
        "1 [Size] prose: 7",
        "1 [] prose: end",
      ],
    ],
    [
      "a rubric and the title of a box as titles of what follows in their blocks",
      '<h1>A</h1><div><p class="rubric">Options</p><p>one</p></div><div class="admonition note"><p class="admonition-title">Keys</p><p>two</p></div><p>three</p>',
      ["1 [A / Options] prose: one", "1 [A / Keys] prose: two", "1 [A] prose: three"],
    ],
    [
      "no title in bold that is a sentence, leads to what follows, or has other text",
      "<p><b>It is so.</b></p><p><b>Note:</b></p><p><b>a</b> b</p><b><p>c</p><p>d</p></b><div><b>e</b></div>",
      ["It is so.", "Note:", "a b", "c", "d", "e"].map((text) => `1 [] prose: ${text}`),
    ],
    ["a bold title with nothing under it as text", "<p><b>Last</b></p>", ["1 [] prose: Last"]],
    ["lines after a tag over several lines", "<a\nb='>'\nc>d\n</a\n>e", ["3 [] prose: d ~  ~ e"]],
    [
      "character references, none of which breaks a line",
      "<p>&para; caf&eacute; &#8364;5 a&nbsp;b&#10;c &unknown;</p>",
      ["1 [] prose: ¶ café €5 a b c &unknown;"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(shown("a.html", text)).toEqual(expected);
  });

  const rows = (text: string) =>
    readBlocks("a.html", text).map(({ cells, header, caption }) => ({ cells, header, caption }));
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
      "a cell that says that it is the title of its row",
      table(
        "<th scope = row>a</th><th>b</th>",
        '<th scope="col">c</th><th>d</th>',
        "<th scope='row'>e</th><th>f</th>",
      ),
      [{ cells: ["a", "b"] }, { cells: ["e", "f"], header: ["c", "d"] }],
    ],
    [
      "the caption with the title over several columns",
      `<table><caption>Limits</caption><tr><th colspan="2">Free</th></tr><tr><td>a<td>1</tr></table>`,
      [{}, { cells: ["a", "1"], caption: "Limits Free" }],
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

describe("a table of separated values", () => {
  const rows = (text: string) =>
    readBlocks("a.csv", text).map(({ line, lines, cells, header, kind, table }) => {
      return { at: `${line}-${line + lines.length - 1}`, cells, header, kind, table };
    });
  const row = (at: string, cells: string[], header?: string[]) => ({
    at,
    cells,
    header,
    kind: "table",
    table: 1,
  });
  it.each<[string, string, object[]]>([
    [
      "under its titles",
      "a,b\n1,2\n3,4",
      [row("2-2", ["1", "2"], ["a", "b"]), row("3-3", ["3", "4"], ["a", "b"])],
    ],
    [
      "by the mark that its first line has most of",
      "a;b;c,d\n1;2;3",
      [row("2-2", ["1", "2", "3"], ["a", "b", "c,d"])],
    ],
    ["by tabs and by bars", "a\tb\n1\t2", [row("2-2", ["1", "2"], ["a", "b"])]],
    ["by bars", "a|b\n1|2", [row("2-2", ["1", "2"], ["a", "b"])]],
    [
      "with a row over several lines",
      'a,b\n"1\n2",3\n4,5',
      [row("2-3", ["1\n2", "3"], ["a", "b"]), row("4-4", ["4", "5"], ["a", "b"])],
    ],
    ["with empty lines between", "a,b\n\n\n1,2", [row("4-4", ["1", "2"], ["a", "b"])]],
    [
      "with lines of blanks between",
      "a,b\n  \n1,2",
      [row("2-2", ["  "], ["a", "b"]), row("3-3", ["1", "2"], ["a", "b"])],
    ],
    ["with a row that begins with an empty line", 'a,b\n"\n1",2', [row("2-3", ["\n1", "2"], ["a", "b"])]],
    ["with rows of other lengths", "a,b\n1", [row("2-2", ["1"], ["a", "b"])]],
    ["with a byte order mark", "\ufeffa,b\n1,2", [row("2-2", ["1", "2"], ["a", "b"])]],
    ["without titles: a number", "a,1\nb,2", [row("1-1", ["a", "1"]), row("2-2", ["b", "2"])]],
    ["without titles: one twice", "a,a\n1,2", [row("1-1", ["a", "a"]), row("2-2", ["1", "2"])]],
    ["without titles: one that is empty", "a,\n1,2", [row("1-1", ["a", ""]), row("2-2", ["1", "2"])]],
    [
      "without titles: a text",
      `${"a".repeat(102)},b\n1,2`,
      [row("1-1", ["a".repeat(102), "b"]), row("2-2", ["1", "2"])],
    ],
    ["of one row", "a,b", [row("1-1", ["a", "b"])]],
  ])("%s", (_name, text, expected) => {
    expect(rows(text)).toEqual(expected);
  });

  it("that is none is read as code", () => {
    expect(readBlocks("a.csv", 'a,"b\nc')).toMatchObject([{ kind: "code", lines: ['a,"b', "c"] }]);
  });
});

it.each<[string, string, number[]]>([
  ["a paragraph of Markdown", "a.md", [20, 5]],
  ["a paragraph of HTML", "a.html", [20, 5]],
  ["a piece of code", "a.ts", [20, 5]],
])("%s is cut after so many lines", (_name, name, expected) => {
  const text = Array.from({ length: 25 }, (_, i) => `line ${i}`).join("\n");
  expect(readBlocks(name, text).map(({ lines }) => lines.length)).toEqual(expected);
});

it.each(["a.md", "a.ts"])("in %s a line of data is left out", (name) => {
  const blocks = readBlocks(name, `one\n${"x".repeat(4_001)}\ntwo\n\n${"y".repeat(4_000)}`);
  expect(blocks.map(({ line }) => line)).toEqual([1, 3, 5]);
});

it("the text before a table says what it is about, its end alone if it is long", () => {
  const caption = (text: string) => readBlocks("a.md", `${text}\n\n| a |\n|---|\n| 1 |`).at(-1)?.caption;
  expect(caption("Limits:")).toBe("Limits:");
  expect(caption("two\nlines")).toBe("two lines");
  expect(caption(`x${"y".repeat(400)}`)).toBe("y".repeat(400));
  expect(caption("Limits:\n\n# Another matter")).toBeUndefined();
  expect(caption("```\ncode\n```")).toBeUndefined();
});

describe("code", () => {
  it("begins a piece at an empty line and at a comment", () => {
    const text = "a();\n\nb();\n// what c does\n// and why\nc();\n# d\nd();\n#include <e>";
    expect(shown("a.c", text)).toEqual([
      "1 [] code: a();",
      "3 [] code: b();",
      "4 [] code: // what c does ~ // and why ~ c();",
      "7 [] code: # d ~ d(); ~ #include <e>",
    ]);
  });

  it("begins one at a comment that the file begins with, and at one behind an empty line", () => {
    expect(shown("a.c", "// a\na();\n\n// b\n\n// c\nc();")).toEqual([
      "1 [] code: // a ~ a();",
      "4 [] code: // b",
      "6 [] code: // c ~ c();",
    ]);
  });

  it("keeps a comment with its declaration, however long the comment is", () => {
    const comment = Array.from({ length: 25 }, (_, i) => ` * line ${i}`);
    const text = ["const a = 1;", "/**", ...comment, " */", "export const MAX = 64;"].join("\n");
    expect(readBlocks("a.ts", text).map(({ line, lines }) => [line, lines.at(-1)])).toEqual([
      [1, "const a = 1;"],
      [2, "export const MAX = 64;"],
    ]);
  });
});
