import { expect, it } from "vitest";
import {
  buildFactsAnswer,
  checkAnswer,
  listCitedParts,
} from "../../../../src/reader/writing/checks/check-answer.js";
import type { Draft } from "../../../../src/reader/writing/prompts.js";
import { factWith } from "../../../support/facts.js";

const FACTS = [
  factWith("Stop the server."),
  factWith("Copy the files."),
  factWith("Start it on port 8080.", { heading: "2.0 (2026-01-01)" }),
];
const draft = (more: Partial<Draft>): Draft => ({
  sentences: [],
  sections: [],
  disagree: [],
  missing: [],
  ...more,
});
const cited = (text: string, ...facts: number[]) => ({ text, facts });
const check = (more: Partial<Draft>) => checkAnswer(draft(more), FACTS, "How do I move it?");

it("keeps numbered sentences as steps, with what belongs to them", () => {
  const { answer, wrong } = check({
    sentences: [
      cited("It takes some steps.", 1),
      cited("1. Stop the server.", 1),
      cited("2. Copy the files.", 2),
      cited("All of them.", 2),
      cited("3. Start it.", 3),
    ],
  });
  expect(wrong).toEqual([]);
  expect(answer.sentences).toHaveLength(1);
  expect(answer.sections).toMatchObject([
    {
      kind: "steps",
      items: [
        { text: "Stop the server." },
        { text: "Copy the files." },
        { text: "All of them.", goesOn: true },
        { text: "Start it." },
      ],
    },
  ]);
});

it("leaves a list of steps out whole if one of them cannot stand, with what follows it", () => {
  const { answer, wrong } = check({
    sentences: [cited("1. Stop the server.", 1), cited("2. Wait 5 minutes.", 2), cited("Start it.", 3)],
    sections: [
      {
        title: "Again",
        kind: "steps",
        columns: [],
        items: [cited("Stop it.", 1), cited("Wait 9 minutes.", 1)],
      },
      {
        title: "Else",
        kind: "list",
        columns: [],
        items: [cited("Stop it.", 1), cited("Wait 9 minutes.", 1)],
      },
    ],
  });
  expect(answer).toMatchObject({ sentences: [], droppedSteps: 2, dropped: 3 });
  expect(answer.sections).toMatchObject([{ title: "Else", items: [{ text: "Stop it." }] }]);
  expect(wrong[0]).toBe('"2. Wait 5 minutes.": the number 5 minutes is in none of its facts');
});

it("cuts the summary at five sentences, and keeps the rest", () => {
  const { answer } = check({ sentences: Array.from({ length: 7 }, () => cited("Stop it.", 1)) });
  expect(answer.sentences).toHaveLength(5);
  expect(answer.sections).toMatchObject([{ kind: "text", items: [{}, {}] }]);
});

it("checks titles, columns and sides", () => {
  const { answer } = check({
    sections: [
      { title: "The 7 ports", kind: "table", columns: ["What", "9 ports"], items: [cited("it | 8080", 3)] },
      { title: "Ports", kind: "table", columns: ["What", "Port"], items: [cited("it | 8080", 3)] },
    ],
    disagree: [
      { about: "the port", sides: [cited("It is 8080 since 2.0.", 3), cited("Stop it.", 1)] },
      { about: "the rest", sides: [cited("It is 8081.", 3), cited("Stop it.", 1)] },
    ],
  });
  expect(answer.sections).toMatchObject([
    { title: "", kind: "list", columns: [] },
    { title: "Ports", kind: "table", columns: ["What", "Port"] },
  ]);
  expect(answer.disagree).toMatchObject([{ about: "the port", sides: [{}, {}] }]);
});

it.each<[string, Partial<Draft["sections"][number]>, object]>([
  ["a title with a number of its facts", { title: " Port \n 8080 " }, { title: "Port 8080" }],
  ["a title with a number of a heading", { title: "Since 2.0" }, { title: "Since 2.0" }],
  ["a title with a number of a fact that it does not cite", { title: "Port 9" }, { title: "" }],
  ["a table of one column", { kind: "table", columns: ["What"] }, { kind: "list", columns: [] }],
  ["columns of what is no table", { kind: "text", columns: ["a", "b"] }, { kind: "text", columns: [] }],
  [
    "columns on more than one line, with bars",
    { kind: "table", columns: ["What\n\n# Now", " A | B"] },
    { kind: "table", columns: ["What # Now", "A B"] },
  ],
  [
    "columns that are numbers next to each other",
    { kind: "table", columns: ["80", "80"] },
    { kind: "list", columns: [] },
  ],
])("%s", (_name, more, expected) => {
  const section = {
    title: "",
    kind: "list" as const,
    columns: [],
    items: [cited("It is 8080.", 3)],
    ...more,
  };
  expect(check({ sections: [section] }).answer.sections).toMatchObject([expected]);
});

it.each<[string, string[], number, number]>([
  ["one number alone", ["Do this.", "1. Stop the server.", "Then go on."], 3, 0],
  ["numbers that do not begin at 1", ["2. Stop the server.", "3. Copy the files."], 2, 0],
  ["a number before the first step", ["2. Copy the files.", "1. Stop the server.", "Then go on."], 3, 0],
  ["steps after a sentence", ["Do this.", "1. Stop the server.", "2. Copy the files."], 1, 2],
])("%s", (_name, texts, sentences, steps) => {
  const { answer } = check({ sentences: texts.map((text) => cited(text, 1)) });
  expect(answer.sentences).toHaveLength(sentences);
  const [list] = answer.sections;
  if (steps === 0) expect(list).toBeUndefined();
  else expect(list).toMatchObject({ title: "", kind: "steps", columns: [] });
  expect(list?.items ?? []).toHaveLength(steps);
});

it("says in what is wrong with a long text how it begins", () => {
  const { wrong, answer } = check({ sentences: [cited(`It is 9 ${"x".repeat(200)}`, 1)] });
  expect(wrong).toEqual([`"It is 9 ${"x".repeat(112)}": the number 9 is in none of its facts`]);
  expect(answer).toMatchObject({ isWritten: true, isForeign: false });
});

it("knows everything in it that cites", () => {
  const { answer } = check({
    sentences: [cited("Stop it.", 1)],
    sections: [{ title: "", kind: "list", columns: [], items: [cited("Copy it.", 2)] }],
    disagree: [{ about: "", sides: [cited("Start it.", 3), cited("Stop it.", 1)] }],
  });
  expect(listCitedParts(answer).flatMap(({ facts }) => facts)).toEqual([1, 2, 3, 1]);
});

it("of facts is each claim that its own quote supports, else the quote", () => {
  const facts = [
    factWith("Stop\n  the server.", { claim: "Stop it within 9 seconds." }),
    factWith("Copy the files.", { claim: "The files are copied." }),
    factWith("Start it.", { claim: "As in [2], start it." }),
  ];
  expect(buildFactsAnswer(facts, "How?")).toEqual({
    sentences: [],
    sections: [
      {
        title: "",
        kind: "list",
        columns: [],
        items: [cited("Stop the server.", 1), cited("The files are copied.", 2), cited("Start it.", 3)],
      },
    ],
    disagree: [],
    missing: [],
    dropped: 0,
    droppedSteps: 0,
    isWritten: false,
    isForeign: false,
  });
});
