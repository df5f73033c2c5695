import { expect, it } from "vitest";
import { checkAnswer, factsAnswer } from "../../../../../src/server/researchers/model/checks/answer.js";
import type { Draft } from "../../../../../src/server/researchers/model/steps/readings.js";

const fact = (quote: string, heading = "") => ({
  claim: quote,
  document: { id: "a.md", title: "a.md" },
  line: 1,
  heading,
  quote,
});
const FACTS = [
  fact("Stop the server."),
  fact("Copy the files."),
  fact("Start it on port 8080.", "2.0 (2026-01-01)"),
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
  expect(wrong[0]).toBe('"2. Wait 5 minutes.": the number 5 stands in none of its facts');
});

it("cuts the summary at five sentences, and keeps the rest", () => {
  const { answer } = check({ sentences: Array.from({ length: 7 }, () => cited("Stop it.", 1)) });
  expect(answer.sentences).toHaveLength(5);
  expect(answer.sections).toMatchObject([{ kind: "text", items: [{}, {}] }]);
});

it("checks titles, columns, sides and what is missing", () => {
  const { answer } = check({
    sections: [
      { title: "The 7 ports", kind: "table", columns: ["What", "9 ports"], items: [cited("it | 8080", 3)] },
      { title: "Ports", kind: "table", columns: ["What", "Port"], items: [cited("it | 8080", 3)] },
    ],
    disagree: [
      { about: "the port", sides: [cited("It is 8080 since 2.0.", 3), cited("Stop it.", 1)] },
      { about: "the rest", sides: [cited("It is 8081.", 3), cited("Stop it.", 1)] },
    ],
    missing: ["who may do it", "why it costs 12 dollars"],
  });
  expect(answer.sections).toMatchObject([
    { title: "", kind: "list", columns: [] },
    { title: "Ports", kind: "table", columns: ["What", "Port"] },
  ]);
  expect(answer.disagree).toMatchObject([{ about: "the port", sides: [{}, {}] }]);
  expect(answer.missing).toEqual(["who may do it"]);
});

it("of facts is each claim that its own quote supports, else the quote", () => {
  const facts = [
    { ...fact("Stop the server."), claim: "Stop it within 9 seconds." },
    fact("Copy the files."),
  ];
  const { sections, isWritten } = factsAnswer(facts, "How?");
  expect(isWritten).toBe(false);
  expect(sections[0]?.items.map(({ text }) => text)).toEqual(["Stop the server.", "Copy the files."]);
});
