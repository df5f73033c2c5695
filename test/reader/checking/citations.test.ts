import { describe, expect, it, test } from "vitest";
import {
  type GivenCitations,
  readFieldClaims,
  readMarkdownClaims,
} from "../../../src/reader/checking/citations.js";
import { isLinear } from "../../support/growth.js";

const NOTHING: GivenCitations = { citations: [], sources: [] };
const read = (report: string, given: Partial<GivenCitations> = {}) =>
  readMarkdownClaims(report, { ...NOTHING, ...given }).claims.flatMap(({ text, urls }) =>
    urls.length > 0 ? [[text, ...urls]] : [],
  );

const A = "https://a.example/x";
const B = "https://b.example/y_(z)";

describe("a sentence cites", () => {
  test.each<[string, string, ...(readonly string[])[]]>([
    ["a link in it", `The [pool](${A}) takes 5. It is full.`, ["The pool takes 5.", A]],
    ["a link behind it", `It is full. It takes 5. ([a.example](${A}))`, ["It takes 5.", A]],
    [
      "a link behind it, before another sentence",
      `It takes 5. ([a.example](${A})) It is full.<sup>[2](${B})</sup> 7 of them are. (Source: [y](${A}))`,
      ["It takes 5.", A],
      ["It is full.", B],
      ["7 of them are.", A],
    ],
    [
      "a number before a digit or a name in small letters",
      `It takes 5 [1]. 7 are full.[2] p99 fell [1].\n\n[1]: ${A}\n[2]: ${B}`,
      ["It takes 5.", A],
      ["7 are full.", B],
      ["p99 fell.", A],
    ],
    ["the name of a link that stands alone", `It takes 5. [Report of 2024](${A})`, ["It takes 5.", A]],
    ["a link with brackets in its address", `It takes 5 ([y](${B})).`, ["It takes 5.", B]],
    ["a link with a title", `It takes 5 [y](${A} "Page 9").`, ["It takes 5 y.", A]],
    ["an address", `It takes 5 (${A}). It is full.`, ["It takes 5.", A]],
    ["an address in angle brackets", `It takes 5 <${A}>.`, ["It takes 5.", A]],
    [
      "an address without a scheme",
      "It takes 5, see www.a.example.",
      ["It takes 5, see.", "http://www.a.example"],
    ],
    ["a number", `It is. It takes 5 [1].\n\n## Sources\n\n1. ${A}`, ["It takes 5.", A]],
    [
      "a number behind it",
      `It takes 5.[1] It is.[2]\n\n[1]: ${A}\n[2]: ${B}`,
      ["It takes 5.", A],
      ["It is.", B],
    ],
    ["two numbers", `It takes 5 [1][2].\n\n[1] ${A}\n[2] ${B}`, ["It takes 5.", A, B]],
    ["numbers in a list", `It takes 5 [1, 2].\n\n[1] ${A}\n[2] ${B}`, ["It takes 5.", A, B]],
    ["a range of numbers", `It takes 5 [1–2].\n\nSources:\n1. ${A}\n2. [Y](${B})`, ["It takes 5.", A, B]],
    ["a link behind a raised digit", `It takes 5.¹ ([y](${A}))`, ["It takes 5.", A]],
    ["a footnote", `It takes 5[^n].\n\n[^n]: Somebody, ${A}`, ["It takes 5.", A]],
    ["a corner bracket", `It takes 5【1†source】.\n\n### Quellen\n- 【1】 ${A}`, ["It takes 5.", A]],
    ["a corner bracket with lines", `It takes 5【1†L3-L9】.\n\n## References\n[1] ${A}`, ["It takes 5.", A]],
    ["a place in the source", `It takes 5 [1, p. 12].\n\n[1] ${A}`, ["It takes 5.", A]],
    ["a number with a word", `It takes 5 [cite: 1, 2].\n\n[1] ${A}\n[2] ${B}`, ["It takes 5.", A, B]],
    ["escaped brackets", `It takes 5 \\[1\\].\n\n[1] ${A}`, ["It takes 5.", A]],
    ["a name of the list", `It takes 5 [S1] [sic].\n\n[S1]: ${A}`, ["It takes 5 [sic].", A]],
    ["a list without numbers", `It takes 5 [2].\n\n**Sources**\n\n- ${A}\n- ${B}`, ["It takes 5.", B]],
    ["a link by its name", `The [pool][p] takes 5.\n\n[p]: ${A}`, ["The pool takes 5.", A]],
    ["a DOI", "It takes 5 (doi:10.1000/ab-1).", ["It takes 5.", "https://doi.org/10.1000/ab-1"]],
    [
      "an id of arXiv",
      "It takes 5 (arXiv:2605.06635v2).",
      ["It takes 5.", "https://arxiv.org/abs/2605.06635"],
    ],
    [
      "a DOI in the list",
      "It takes 5 [1].\n\n[1] Ab, 10.1000/ab.",
      ["It takes 5.", "https://doi.org/10.1000/ab"],
    ],
    [
      "a place in a file",
      "It takes 5 [1].\n\n## Quotes\n\n1. `docs/a.md:12`\n\n   > Five.",
      ["It takes 5.", "docs/a.md:12"],
    ],
    [
      "a place in a file over its quotation, as in a report of passages",
      "1. `a.md:7`, Manual / 8. Limits\n\n   > It takes 5.\n   > It is red.\n\n2. `b.md:3`\n\n   > Six.\n\n2 files were read.",
      ["It takes 5.", "a.md:7"],
      ["It is red.", "a.md:7"],
      ["Six.", "b.md:3"],
    ],
    ["a hidden file", "It takes 5 (.env:3).", ["It takes 5.", ".env:3"]],
    [
      "what is no address",
      "It takes [5 of it](javascript:alert(1)).",
      ["It takes 5 of it.", "javascript:alert(1)"],
    ],
  ])("%s", (_name, report, ...claims) => {
    expect(read(report)).toEqual(claims);
  });
});

test.each<[string, string, ...(readonly string[])[]]>([
  [
    "an item that cites at its end is one",
    `- It takes 5. It is full. [x](${A})`,
    ["It takes 5. It is full.", A],
  ],
  [
    "an item that cites within it is not",
    `- It takes 5 [x](${A}). It is full [y](${B}).`,
    ["It takes 5 x.", A],
    ["It is full y.", B],
  ],
  [
    "an item that cites in its last sentence is not",
    `- It is full. The [pool](${A}) takes 5.`,
    ["The pool takes 5.", A],
  ],
  ["a space before a fraction stays", `It takes .7 to .95 [x](${A}).`, ["It takes .7 to .95 x.", A]],
  [
    "a named link in brackets says what the source is",
    `It takes 5 ([Report of 2019][x]).\n\n[x]: ${A}`,
    ["It takes 5.", A],
  ],
  ["a row is one", `| a | b |\n|---|---|\n| x | 5 [1] |\n\n[1] ${A}`, ["x | 5", A]],
  ["an empty cell is left out", `| a | b | c |\n|---|---|---|\n| x | 5 | [1] |\n\n[1] ${A}`, ["x | 5", A]],
  [
    "what somebody says is not cut",
    `She said: “It takes 5. We wait.” [x](${A}) "So. It is", he said [x](${A}).`,
    ["She said: “It takes 5. We wait.”", A],
    ['"So. It is", he said x.', A],
  ],
  ["the lines of a paragraph are one text", `It takes\n5 [source](${A}).`, ["It takes 5.", A]],
  [
    "emphasis is left out",
    `It takes **5 _big_ things**, \`a_b\` & 3*4 [source](${A}).`,
    ["It takes 5 big things, a_b & 3*4.", A],
  ],
  ["escaped marks stay", `It takes 5 \\_a\\_b\\_ [source](${A}).`, ["It takes 5 _a_b_.", A]],
  ["a quotation is read", `> It takes 5 [source](${A}).`, ["It takes 5.", A]],
  ["a linked sentence is one", `[The pool takes five of them.](${A})`, ["The pool takes five of them.", A]],
  [
    "code, headings and the list are none",
    `# A [source](${A})\n\n\`\`\`\n${A}\n\`\`\`\n\n## Sources\n\n- [T](${A})\n- [Long title of a page](${B})`,
  ],
  ["a port and a time are no places in a file", "It listens on example.com:80 at 12:30 (see a.b:3)."],
])("%s", (_name, report, ...claims) => {
  expect(read(report)).toEqual(claims);
});

test.each([
  "Am 17. Januar kam der Bericht heraus",
  "Es kostet 1,9 Mrd. Euro im Jahr",
  "It has parts, e.g. Paris, and others",
  "The shape in Fig. 3 is round",
  "Results came on 28 Oct. 2025 in London",
])("%s is not cut", (sentence) => {
  expect(read(`It is so. ${sentence} [1]. And so.\n\n[1] ${A}`)).toEqual([[`${sentence}.`, A]]);
});

test("each of two cited sentences is a claim, also if the second begins with a number", () => {
  const two = [
    ["It costs 10.80 euros.", A],
    ["25 % of the drivers are foreign.", B],
  ];
  expect(read(`It costs 10.80 euros ([a](${A})). 25 % of the drivers are foreign ([b](${B})).`)).toEqual(two);
  expect(
    read(`It costs 10.80 euros [1]. 25 % of the drivers are foreign [2].\n\n[1] ${A}\n[2] ${B}`),
  ).toEqual(two);
});

test.each(["It takes 5 ms", "It rose by 4.8 m", "It boils for 5 min"])("%s. ends a sentence", (sentence) => {
  expect(read(`${sentence}. It is so [1].\n\n[1] ${A}`)).toEqual([["It is so.", A]]);
});

describe("what a provider says", () => {
  it("belongs to the sentence in which it ends, and to those that it covers", () => {
    const report = "One is here. Two is there. Three is not.";
    const at = (start: number, end: number) => ({ citations: [{ start, end, url: A }] });
    expect(read(report, at(15, 20))).toEqual([["Two is there.", A]]);
    expect(read(report, at(0, 26))).toEqual([
      ["One is here.", A],
      ["Two is there.", A],
    ]);
    expect(read(report, at(30, 99))).toEqual([]);
  });
  it("may come in any order", () => {
    const report = "One is here. Two is there. Three is not.";
    const citations = [
      { start: 27, end: 40, url: A },
      { start: 0, end: 12, url: B },
      { start: 13, end: 26, url: A },
    ];
    expect(read(report, { citations })).toEqual([
      ["One is here.", B],
      ["Two is there.", A],
      ["Three is not.", A],
    ]);
  });
  it("are the addresses of numbers that the text does not list", () => {
    expect(read("It takes 5 [2].", { sources: [A, B] })).toEqual([["It takes 5.", B]]);
  });
});

test("a list that was put behind the report takes no number from its own list", () => {
  expect(read(`It takes 5 [1].\n\n[1]: ${A}\n\n## Sources\n\n1. [T](${B})`)).toEqual([["It takes 5.", A]]);
});

test("counts what cites nothing", () => {
  const { claims } = readMarkdownClaims(`# T\n\nOne is. Two is.\n\n- Three [1]\n- Four\n\n[1] ${A}`, NOTHING);
  expect(claims.filter(({ urls }) => urls.length === 0).map(({ text }) => text)).toEqual([
    "One is.",
    "Two is.",
    "Four",
  ]);
});

test("says where each ends, marks included", () => {
  const report = `It is. It takes 5 [1]. **It is full.** [1]\n\n| a |\n|---|\n| 5 [1] |\n\n[1] ${A}`;
  const { claims } = readMarkdownClaims(report, NOTHING);
  expect(claims.map(({ end }) => report.slice(0, end).split("\n").at(-1))).toEqual([
    "It is.",
    "It is. It takes 5 [1].",
    "It is. It takes 5 [1]. **It is full.** [1]",
    "| 5 [1]",
  ]);
});

test("a field of a structured result is its value", () => {
  const value = {
    name: "Acme",
    list: [{ year: 2015 }, { year: 2016 }],
    about: { a: "x", b: 2 },
    none: null,
    own: 3,
  };
  const citations = ["name", "list[1].year", "$.about", "none"].map((field) => ({ field, url: A }));
  expect(readFieldClaims(value, { citations })).toMatchObject({
    claims: [
      ["name", "Acme", A],
      ["list.0.year", "2015"],
      ["list.1.year", "2016", A],
      ["about", "x; 2", A],
      ["own", "3"],
    ].map(([field, text, ...urls]) => ({ field, over: field, text, urls, start: 0, end: 0 })),
  });
});

test("a field of a structured result cites what stands in its text, if the provider gives nothing for it", () => {
  const value = { rows: [{ about: `Opened in 1932 (${A}). It is red.` }, { link: A }], given: `5 (${B})` };
  expect(readFieldClaims(value, { citations: [{ field: "given", url: A }] })).toMatchObject({
    claims: [
      { field: "rows.0.about", over: "rows.0.about", text: "Opened in 1932.", urls: [A], end: 0 },
      { field: "rows.0.about", over: "rows.0.about", text: "It is red.", urls: [] },
      { field: "given", over: "given", text: "5", urls: [A], end: 0 },
    ],
  });
});

test.each([
  `It takes 5 [x](${A}). `,
  "[",
  "](",
  "[a](",
  "(((",
  "10.1000/",
  "a.b/",
  "`",
  "【1",
  "www.",
  "[1,",
  "|",
  "**",
  "<a ",
  "([1]",
  "“a. ",
  ".[1]",
])("many of %s take time in proportion", (text) => {
  const read = (length: number) => readMarkdownClaims(text.repeat(length / text.length), NOTHING);
  expect(isLinear(read, 18_000)).toBe(true);
});
