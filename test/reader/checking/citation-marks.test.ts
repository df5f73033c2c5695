import { describe, expect, test } from "vitest";
import { readMarkdownClaims } from "../../../src/reader/checking/citations.js";
import { isLinear } from "../../support/growth.js";

const [A, B, C] = ["https://a.example/x", "https://b.example/y", "https://c.example/z"] as const;
const NAMES: Record<string, string> = { [A]: "A", [B]: "B", [C]: "C" };
const NOTHING = { citations: [], sources: [] };
/** The claims of a report as "sentence <- addresses", and its bare marks. */
const read = (report: string) => {
  const { claims, marksWithoutSource } = readMarkdownClaims(report, NOTHING);
  const lines = claims.map(({ text, urls }) => [text, ...urls.map((url) => NAMES[url] ?? url)].join(" ← "));
  return [...lines, ...marksWithoutSource.map((mark) => `bare ${mark}`)];
};
const LIST = `\n\n## Works\n\n1. [First](${A})\n2. [Second](${B})\n3. [Third](${C})`;

describe("each form of a mark (contract §11)", () => {
  test.each<[string, string, string[]]>([
    ["Markdown: a link", `It takes 5 ([Title](${A})).`, ["It takes 5. ← A"]],
    [
      "ChatGPT: an address with blanks and brackets",
      `It takes 5 ([a](${A}#:~:text=range of (5, north) units)).`,
      [`It takes 5. ← ${A}#:~:text=range%20of%20(5,%20north)%20units`],
    ],
    [
      "Markdown: escapes in an address",
      "It takes 5 (https://a.example/k\\_t).",
      ["It takes 5. ← https://a.example/k_t"],
    ],
    ["HTML: entities in an address", `It takes 5 ([x](${A}?a=1&amp;b=2)).`, [`It takes 5. ← ${A}?a=1&b=2`]],
    [
      "a bare address, a DOI and an arXiv id",
      `It (${A}) is 5 (doi:10.1000/x1, arXiv:2401.12345).`,
      [`It is 5. ← A ← https://doi.org/10.1000/x1 ← https://arxiv.org/abs/2401.12345`],
    ],
    [
      "[n, m] and [n][m]",
      `It takes 5 [1, 2]. It is 6 [1][3].${LIST}`,
      ["It takes 5. ← A ← B", "It is 6. ← A ← C"],
    ],
    ["[n]–[m] has all between", `It takes 5 [1]–[3].${LIST}`, ["It takes 5. ← A ← B ← C"]],
    ["escaped brackets", `It takes 5 \\[1\\].${LIST}`, ["It takes 5. ← A"]],
    ["full-width brackets", `有1,700个连接［1］。${LIST}`, ["有1,700个连接。 ← A"]],
    [
      "Perplexity: [^n_m]",
      `It takes 5[^1_1][^1_2].\n\n[^1_1]: ${A}\n\n[^1_2]: ${B}`,
      ["It takes 5. ← A ← B"],
    ],
    ["Kimi: [^n^]", `It takes 5[^1^].\n\n[^1^]: ${A}`, ["It takes 5. ← A"]],
    ["a footnote on two lines", `It takes 5 [^1].\n\n[^1]:\n    Title ${A}`, ["It takes 5. ← A"]],
    ["^n^", `It takes five^1^.${LIST}`, ["It takes five. ← A"]],
    [
      "<sup>n</sup>",
      `It takes five<sup>1</sup>. In 2024<sup>[2]</sup> 7 fell.${LIST}`,
      ["It takes five. ← A", "In 2024 7 fell. ← B"],
    ],
    [
      "superscript digits",
      `It takes five.¹ In 2024² it rose.${LIST}`,
      ["It takes five. ← A", "In 2024 it rose. ← B"],
    ],
    [
      "superscript digits, and a list whose lines begin with them",
      `It takes five.¹ It is full.² ³\n\nSources :\n¹ First, ${A}\n² Second, ${B}\n³ Third, ${C}`,
      ["It takes five. ← A", "It is full. ← B ← C"],
    ],
    ["a raised link", `It takes 5 %^[4](${A})^. It is 6 ⁽¹⁾.${LIST}`, ["It takes 5 %. ← A", "It is 6. ← A"]],
    ["<url>", `It takes 5 <${A}>.`, ["It takes 5. ← A"]],
    [
      "raised numbers behind one another",
      `It takes five.<sup>1</sup><sup>2</sup> It is full.^1^^3^ But x^2^^3^ is a power.${LIST}`,
      ["It takes five. ← A ← B", "It is full. ← A ← C", "But x^2^^3^ is a power."],
    ],
    ["a raised number behind a unit of Chinese", `池子有5升<sup>1</sup>。${LIST}`, ["池子有5升。 ← A"]],
    [
      "a mark behind an exclamation mark is no picture",
      `It is full![1](${A}) Really![2] And so![^3]\n\n[^3]: ${C}${LIST}`,
      ["It is full! ← A", "Really! ← B", "And so! ← C"],
    ],
    [
      "bold text that Markdown does not end before a mark or a letter",
      `**It takes five.**¹ So. **池子已满。**它很大 [2]。${LIST}`,
      ["It takes five. ← A", "So.", "池子已满。", "它很大。 ← B"],
    ],
    ["(n) right behind a full stop", `It takes five.(1) So.${LIST}`, ["It takes five. ← A", "So."]],
    ["a link of superscript digits", `It takes 5[¹](${A}).`, ["It takes 5. ← A"]],
    [
      "powers",
      `It has 10⁶ cells, 5 m² and x^2^ and 3<sup>2</sup> of them [1].${LIST}`,
      ["It has 10⁶ cells, 5 m² and x^2^ and 3^2 of them. ← A"],
    ],
    [
      "(n) that the list has",
      `It takes 5 (1). It is full (7).${LIST}`,
      ["It takes 5. ← A", "It is full (7)."],
    ],
    [
      "(n) that counts",
      `It has (1) a pool and (2) a harbour.${LIST}`,
      ["It has (1) a pool and (2) a harbour."],
    ],
    [
      "Gemini: glued numbers",
      `We use methods.3 It rose in 2024.1 The pool is full.2, 3 It is 4.2.1 So.${LIST}`,
      ["We use methods. ← C", "It rose in 2024. ← A", "The pool is full. ← B ← C", "It is 4.2. ← A", "So."],
    ],
    [
      "a year or figure stays if the list has no such number",
      `It rose in 2024.9 The pool takes 5.3 tons [1].${LIST}`,
      ["It rose in 2024.9 The pool takes 5.3 tons. ← A"],
    ],
    [
      "a glued number behind a quotation",
      `He said “it takes 5.”2 Then.${LIST}`,
      ["He said “it takes 5.” ← B", "Then."],
    ],
    [
      "Gemini: numbers behind a German quotation",
      `Es ist voll.1 Er sprach von einem „Meilenstein im ganzen Land“ 2, sie von „Wasser.“3 So.${LIST}`,
      [
        "Es ist voll. ← A",
        "Er sprach von einem „Meilenstein im ganzen Land“, sie von „Wasser.“ ← B ← C",
        "So.",
      ],
    ],
    [
      "a name with a number stays",
      `It is full.1 It runs on Python3.${LIST}`,
      ["It is full. ← A", "It runs on Python3."],
    ],
    [
      "Gemini: the end of a cell",
      `It is full.1\n\n| a | b |\n|---|---|\n| x | 4.2 metres 1 |\n| y | 1,600 2 |\n| z | 12 500 |${LIST}`,
      ["It is full. ← A", "x | 4.2 metres ← A", "y | 1,600 ← B", "z | 12 500"],
    ],
    ["ChatGPT: 【n†…】", `It takes 5【1†source】【2†L3-L5】.${LIST}`, ["It takes 5. ← A ← B"]],
    [
      "ChatGPT: oaicite counts from 0",
      `It takes 5 :contentReference[oaicite:0]{index=0}. So :contentReference[oaicite:2]{index=2}.${LIST}`,
      ["It takes 5. ← A", "So. ← C"],
    ],
    [
      "a list that lacks a number is not counted by these marks",
      `It takes 5【1†source】. So【9†source】.${LIST}`,
      ["It takes 5.", "So.", "bare 【1†source】", "bare 【9†source】"],
    ],
    [
      "ChatGPT: private use",
      `It takes 5 \ue200cite\ue202turn0search0\ue202turn0news1\ue201.${LIST}`,
      ["It takes 5.", "bare \ue200cite\ue202turn0search0\ue202turn0news1\ue201"],
    ],
    [
      "Gemini: [cite: n]",
      `It takes 5 [cite: 1, 2].[cite_start] So [cite: 3].${LIST}`,
      ["It takes 5. ← A ← B", "So. ← C"],
    ],
    [
      "DeepSeek and Perplexity: [citation:n], [web:n]",
      `It takes 5 [citation:1]. So [web:2][web:3].${LIST}`,
      ["It takes 5. ← A", "So. ← B ← C"],
    ],
    [
      "a table of works",
      `It takes 5 [1].\n\n| # | T | Link |\n|---|---|---|\n| 1 | T | ${A} |\n| 2 | U | ${B} |`,
      ["It takes 5. ← A"],
    ],
    [
      "works in <details>, before the text",
      `<details><summary>S</summary>\n\n1. ${A}\n2. ${B}\n\n</details>\n\nIt takes 5 [2].`,
      ["It takes 5. ← B"],
    ],
    [
      "works as a list in HTML",
      `It takes 5 [2].\n\n<details>\n<ol>\n<li><a href="${A}">T</a></li>\n<li><a href="${B}">U</a></li>\n</ol>\n</details>`,
      ["It takes 5. ← B"],
    ],
    [
      "works as a list in HTML behind another list",
      `<ul>\n<li>It takes 5 <a href="#r2">[2]</a></li>\n</ul>\n<ol>\n<li>T <a href="${A}">x</a></li>\n<li>U <a href="${B}">y</a></li>\n</ol>`,
      ["It takes 5 ← B"],
    ],
    [
      "works without numbers, with days of access",
      `It takes 5 [2].\n\n### Literatur\n\n- T, 2024. ${A} (abgerufen am 5. März 2024)\n- U ${B}（2024年3月5日アクセス）`,
      ["It takes 5. ← B"],
    ],
    [
      "a title without markup over the works",
      `It takes 5 [1].\n\n参考文献\n1. 題 ${A}\n2. 題 ${B}`,
      ["It takes 5. ← A"],
    ],
    [
      "findings with the numbers of the works",
      `So [1].\n\n1. A is 5 [2]. [x](${C})\n2. B is 6. [y](${C})\n\n## Works\n\n1. ${A}\n2. ${B}`,
      ["So. ← A", "A is 5. ← B ← C", "B is 6. ← C"],
    ],
    [
      "findings with links, as the last block",
      `So.\n\n- The pool takes 5. [A](${A})\n- It grew by 12 in 2024. [B](${B})`,
      ["So.", "The pool takes 5. ← A", "It grew by 12 in 2024. ← B"],
    ],
    [
      "prices with sources, as the last block",
      `So.\n\n| # | Product | Price | Source |\n|---|---|---|---|\n| 1 | X | $5 | [a](${A}) |\n| 2 | Y | $7 | [b](${B}) |`,
      ["So.", "1 | X | $5 | a ← A", "2 | Y | $7 | b ← B"],
    ],
    [
      "a line of addresses under a paragraph",
      `It takes 5. So.\n\nSource: [A](${A}), [B](${B})`,
      ["It takes 5. ← A ← B", "So. ← A ← B"],
    ],
    [
      "a line of addresses under a list",
      `- It takes 5\n- So\n\n*Sources: [A](${A}); [B](${B})*`,
      ["It takes 5 ← A ← B", "So ← A ← B"],
    ],
    ["a line of addresses under a table", `| a | b |\n|---|---|\n| x | 5 |\n\nQuelle: ${A}`, ["x | 5 ← A"]],
    [
      "<br> and removed marks join no numbers",
      `| a | b |\n|---|---|\n| In 2024<br>4.2 metres [1] | 2024<sup>[2]</sup>5 |${LIST}`,
      ["In 2024 4.2 metres | 2024 5 ← A ← B"],
    ],
    [
      "<think>, code and front matter are no claims",
      `<think>\nIt takes 7 [1].\n</think>\n\n\`\`\`\nIt takes 8 [1]\n\`\`\`\n\nIt takes 5 [1].${LIST}`,
      ["It takes 5. ← A"],
    ],
    ["front matter", `---\ntitle: It takes 7\n---\n\nIt takes 5 [1].${LIST}`, ["It takes 5. ← A"]],
  ])("%s", (_name, report, lines) => {
    expect(read(report)).toEqual(lines);
  });
});

/** How reports number their works line by line where Markdown sees one paragraph, or a list with addresses below the titles. */
test.each<[string, (n: number, url: string) => string]>([
  ["a number in brackets, in bold", (n, url) => `**[${n}]** Title — ${url}`],
  ["a number in round brackets", (n, url) => `(${n}) Title ${url}`],
  ["an escaped number", (n, url) => `${n}\\. Title ${url}\n`],
  ["a linked number", (n, url) => `[${n}](${url}) Title`],
  ["a linked number in brackets", (n, url) => `[[${n}]](${url}) Title`],
  ["lenticular brackets", (n, url) => `【${n}】題名 ${url}`],
  ["full-width brackets", (n, url) => `［${n}］題名 ${url}`],
  ["a number with a comma of Chinese", (n, url) => `${n}、題名 ${url}`],
  ["a number with a full-width stop", (n, url) => `${n}．題名 ${url}`],
  ["an address in a paragraph of its own", (n, url) => `${n}. **Title**\n\n   ${url}`],
])("works with %s", (_name, entryOf) => {
  const list = [A, B, C].map((url, i) => entryOf(i + 1, url)).join("\n");
  const report = `It takes 5 litres[1]. It rose by 7 percent in May[2]. The pool is full[3].\n\n## Works\n\n${list}\n`;
  expect(read(report)).toEqual([
    "It takes 5 litres. ← A",
    "It rose by 7 percent in May. ← B",
    "The pool is full. ← C",
  ]);
});

test.each<[string, string, string[]]>([
  [
    "an enumeration over several lines",
    `It has (1) a pool,\n(2) a harbour and\n(3) a beach [1]. \n\nSo ${B}.${LIST}`,
    ["It has (1) a pool, (2) a harbour and (3) a beach. ← A", "So. ← B"],
  ],
  [
    "findings with numbers and addresses",
    `So.\n\n1、容量は5リットル ${A}\n2、面積は7平方メートル ${B}`,
    ["So.", "1、容量は5リットル ← A", "2、面積は7平方メートル ← B"],
  ],
])("no works: %s", (_name, report, lines) => {
  expect(read(report)).toEqual(lines);
});

describe("takes time in proportion to", () => {
  test.each<[string, (length: number) => string]>([
    ["lines that are marks", (n) => `${"[1]\n".repeat(n)}\n\n1. ${A}`],
    [
      "works",
      (n) => `It takes 5 [1].\n\n${Array.from({ length: n }, (_, i) => `${i + 1}. T ${A}/${i}`).join("\n")}`,
    ],
    ["links", (n) => `It takes 5 [x](${A}). `.repeat(n)],
    [
      "works and five times as many links",
      (n) =>
        `${Array.from({ length: 5 * n }, (_, i) => `It is [x](//b.c/${i}).`).join(" ")}\n\n## W\n\n${Array.from({ length: n }, (_, i) => `${i + 1}. T //a.b/${i}`).join("\n")}`,
    ],
    ["items that are marks", (n) => `${"- [1]\n".repeat(n)}\n1. ${A}`],
    ["rows that are marks", (n) => `| [1] |\n|---|\n${"| [1] |\n".repeat(n)}\n1. ${A}`],
    ["lines that are marks without a source", (n) => "【1†x】\n".repeat(n)],
    ["nested brackets", (n) => "[".repeat(5 * n) + "]".repeat(5 * n)],
    [
      "sentences over as many lines of sources",
      (n) => `${"It is.\n".repeat(n)}\n${`Source: [A](${A})\n\n`.repeat(n)}`,
    ],
    [
      "marks of an entry with as many addresses",
      (n) => `${"It is [1]. ".repeat(n)}\n\n1. ${`${A} `.repeat(n)}`,
    ],
  ])("%s", (_name, reportOf) => {
    expect(isLinear((length) => readMarkdownClaims(reportOf(length), NOTHING), 300)).toBe(true);
  });
});

test.each<[string, string, string]>([
  ["brackets", "[", "]"],
  ["brackets of both kinds", "([", "])"],
  ["lenticular brackets", "【", "】"],
  ["links", "[a", `](${A})`],
  ["pictures", "![", "](x)"],
  ["raised text", "<sup>", "</sup>"],
  ["lists", "- ", ""],
  ["quotes", "> ", ""],
])("%s nested 100,000 deep overflow no stack", (_name, opening, closing) => {
  const report = `It takes 5 (${A}).\n\n${opening.repeat(100_000)}1${closing.repeat(100_000)}`;
  expect(read(report)[0]).toBe("It takes 5. ← A");
});
