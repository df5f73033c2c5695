import { expect, it } from "vitest";
import { renderMarkdown } from "../../../src/core/markdown/html/render-blocks.js";
import { parseMarkdown } from "../../../src/core/markdown/parse-markdown.js";
import { BudgetExceededError } from "../../../src/reader/model/session/model-budget.js";
import type { Answer } from "../../../src/reader/writing/checks/check-answer.js";
import {
  buildAnswerData,
  buildModelReport,
  listCitedFacts,
  listCitedSources,
} from "../../../src/reader/writing/model-report.js";
import { factWith } from "../../support/facts.js";

const page = {
  id: "http://x.test/p",
  url: "http://x.test/p",
  title: "A [page]",
  accessed: "2026-01-02T03:04:05Z",
};
const FACTS = [
  factWith("It is 5.  \nSo it is.", { line: 3, heading: "Top / Sub" }),
  factWith("a | b", { document: { ...page, date: "2025" }, header: ["What", "How"] }),
  factWith("It is 6.", { line: 9 }),
];
const EMPTY: Answer = {
  sentences: [],
  sections: [],
  disagree: [],
  missing: [],
  dropped: 0,
  droppedSteps: 0,
  isWritten: true,
  isForeign: false,
};
const cited = (text: string, ...facts: number[]) => ({ text, facts });
const FINDINGS = { facts: FACTS, parts: [], droppedQuotes: 0, spent: undefined, isContextCut: false };
const DESCRIPTION = { kind: "", documents: 1, titles: [], languages: [], unread: [], notes: [] };
const USAGE = { calls: 1, input_tokens: 1_234, output_tokens: 5 };

function reported(answer: Partial<Answer> | undefined, more: object = {}) {
  const about = {
    question: "Why?",
    findings: FINDINGS,
    description: DESCRIPTION,
    usage: USAGE,
    length: "normal" as const,
    ...more,
  };
  return buildModelReport(answer && { ...EMPTY, ...answer }, about);
}
/** The text under a heading of a report. */
const under = (text: string, title: string) =>
  text.split(`\n## ${title}\n\n`)[1]?.split("\n\n## ")[0]?.trimEnd();

it("numbers quotes in the order in which they are cited, and names each source once", () => {
  const text = reported({ sentences: [cited("Two", 2, 1), cited("One: yes!", 1), cited("Three?", 3)] });
  expect(text).toMatch(/^# Why\?\n\nTwo\. \[1, 2\] One: yes! \[2\] Three\? \[3\]\n\n## Quotes\n/);
  expect(under(text, "Quotes")).toBe(
    [
      "1. [A page](http://x.test/p), read 2026-01-02\n\n   > a | b\n\n   Under: columns What | How, 2025",
      "2. `a.md:3`\n\n   > It is 5.\n   > So it is.\n\n   Under: Top / Sub",
      "3. `a.md:9`\n\n   > It is 6.",
    ].join("\n\n"),
  );
  expect(under(text, "Sources")).toBe(
    "- [A page](http://x.test/p), read 2026-01-02, 2025\n- `a.md`\n\nDocuments searched: 1.",
  );
  expect(under(text, "Usage")).toBe("Calls of the model: 1. Tokens in: 1,234, out: 5.");
});

it.each<[string, Partial<Answer["sections"][number]>, string]>([
  ["text", { kind: "text", items: [cited("One.", 1), cited("Two", 3)] }, "One. [1] Two. [2]"],
  ["a list", { kind: "list", items: [cited("One.", 1), cited("Two", 3)] }, "- One. [1]\n- Two. [2]"],
  [
    "steps",
    { kind: "steps", items: [cited("One.", 1), { ...cited("More", 3), goesOn: true }, cited("Two", 3)] },
    "1. One. [1] More. [2]\n2. Two. [2]",
  ],
  [
    "a table",
    { kind: "table", columns: ["A", "B"], items: [cited("x | 5", 1), cited("y | 6 |", 3)] },
    "| A | B |\n|---|---|\n| x | 5 [1] |\n| y | 6  [2] |",
  ],
  [
    "a table with a row of other cells, as a list",
    { kind: "table", columns: ["A", "B"], items: [cited("x | 5", 1), cited("y", 3)] },
    "- x | 5. [1]\n- y. [2]",
  ],
])("%s", (_name, section, expected) => {
  const text = reported({ sections: [{ title: "", kind: "text", columns: [], items: [], ...section }] });
  expect(text.split("\n\n## Quotes")[0]).toBe(`# Why?\n\n${expected}`);
  const titled = reported({
    sections: [{ title: "Title", kind: "text", columns: [], items: [], ...section }],
  });
  expect(under(titled, "Title")).toBe(expected);
});

it("shows both sides with where they stand, and what was not found", () => {
  const text = reported({
    disagree: [
      { about: "the number", sides: [cited("It is 5", 1, 1), cited("It is 6", 3)] },
      { about: "", sides: [cited("It is a", 2), cited("It is 6", 3)] },
    ],
    missing: ["who"],
  });
  expect(under(text, "Sources disagree")).toBe(
    "the number.\n\n- It is 5. [1, 1] (a.md, Sub)\n- It is 6. [2] (a.md)\n\n- It is a. [3] (A [page], 2025)\n- It is 6. [2] (a.md)",
  );
  expect(under(text, "Not found")).toBe("- who.");
});

it("lets nothing be followed in what was not found, which nobody has checked", () => {
  const missing = [
    "who may\n do it for 12 dollars ",
    "![a](https://evil.example) \\[b](//evil.example) <img src=x>",
    "see https://evil.example/?q=`1` and www.evil.example",
    "`code https://evil.example",
  ];
  const html = renderMarkdown(parseMarkdown(under(reported({ missing }), "Not found") ?? "").blocks, []);
  expect(html).not.toMatch(/<(?:a|img)\b/);
  expect(html).toContain(">who may do it for 12 dollars.</li>");
  expect(html).toContain("![a](<code>https://evil.example</code>) \\[b](//evil.example) &lt;img src=x&gt;.");
  expect(html).toContain("see <code>https://evil.example/?q=</code>`1` and <code>www.evil.example</code>.");
});

it.each<[string, Partial<Answer>, object, string]>([
  [
    "what was left out",
    { dropped: 1, droppedSteps: 2 },
    { droppedQuotes: 2 },
    "Left out: quotes of the model that do not stand in their source (2); sentences that no quote supports (1); whole lists of steps, since a step of each is not supported (2).",
  ],
  ["another language", { isForeign: true }, {}, "The answer is not in the language of the question"],
  ["facts for an answer", { isWritten: false }, {}, "The answer is made of what a model noted"],
  [
    "a limit",
    {},
    { spent: new BudgetExceededError("ms") },
    "The search ended early, at the limit of --model-time.",
  ],
  ["a context that was cut", {}, { isContextCut: true }, "The model may not have seen all passages"],
  [
    "what is still open",
    {},
    { parts: [{ question: "?", isOpen: true }] },
    "some of the question may still be open",
  ],
])("says %s, and else not", (_name, answer, findings, expected) => {
  const checkSection = (a: Partial<Answer>, f: object) =>
    under(
      reported({ sentences: [cited("One", 1)], ...a }, { findings: { ...FINDINGS, ...f } }),
      "What is checked",
    );
  expect(checkSection(answer, findings)).toContain(expected);
  expect(checkSection({}, {})).not.toContain(expected);
  expect(checkSection({}, {})).toMatch(
    /^Each quote was found .* held each sentence against its quotes, and what they do not state is left out\.$/,
  );
});

it("says that nothing was found, and why the search ended", () => {
  const findings = { ...FINDINGS, facts: [], droppedQuotes: 1, parts: [{ question: "?", isOpen: true }] };
  const description = {
    ...DESCRIPTION,
    documents: 0,
    notes: ["It rains."],
    unread: [{ name: "b.png", reason: "not text" }],
  };
  const usage = { ...USAGE, calls: 2, cost_dollars: 0.5 };
  expect(reported(undefined, { findings, description, usage })).toBe(
    "# Why?\n\nNothing was found: no passage in the sources answers this. Left out: quotes of the model that do not stand in their source (1).\n\n## Sources\n\nDocuments searched: 0. It rains. Not read: b.png (not text).\n\n## Usage\n\nCalls of the model: 2. Tokens in: 1,234, out: 5. Cost: 0.5000 dollars.\n",
  );
});

it("is data too", () => {
  const answer = { ...EMPTY, sentences: [cited("Two", 2), cited("One.", 1), cited("Three.", 3)] };
  expect(buildAnswerData(answer, FACTS)).toEqual({
    answer: "Two. One. Three.",
    quotes: [
      { source: "http://x.test/p", text: "a | b" },
      { source: "a.md:3", text: "It is 5.  \nSo it is." },
      { source: "a.md:9", text: "It is 6." },
    ],
    sources: ["http://x.test/p", "a.md"],
  });
  expect(buildAnswerData(undefined, FACTS)).toEqual({ answer: "", quotes: [], sources: [] });
  expect(listCitedSources(listCitedFacts(answer, FACTS))).toEqual([
    { title: "A [page]", url: "http://x.test/p" },
    { title: "a.md", file: "a.md" },
  ]);
});
