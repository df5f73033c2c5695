import { describe, expect, it } from "vitest";
import {
  buildAnswerPrompt,
  buildFactsInput,
  buildKnownInput,
  buildPlanInput,
  buildRequoteInput,
  buildSectionInput,
  NOTES,
  PLAN,
  readAnswer,
  readNotes,
  readPlan,
} from "../../../src/reader/writing/prompts.js";

const QUESTION = "Why?";
const document = { id: "a.md", title: "A", date: "2026" };
const passage = (text: string, more: object = {}) => ({
  id: "a.md",
  line: 1,
  lines: [text],
  heading: "Top",
  kind: "prose" as const,
  ...more,
});

describe("a plan is read from", () => {
  it.each<[string, unknown, object[]]>([
    [
      "its parts",
      { questions: [{ question: " Who? ", queries: ["a", " b "] }] },
      [{ question: "Who?", queries: ["a", "b"] }],
    ],
    ["queries alone", { queries: ["a"] }, [{ question: QUESTION, queries: ["a"] }]],
    ["a bare list of them", ["a", 7, ""], [{ question: QUESTION, queries: ["a"] }]],
    ["a bare list of parts", [{ question: "Who?" }, { queries: ["b"] }], [{ question: "Who?", queries: [] }]],
    [
      "one query for a list",
      { questions: [{ question: "Who?", queries: "a" }] },
      [{ question: "Who?", queries: ["a"] }],
    ],
  ])("%s", (_name, reply, value) => {
    expect(readPlan(reply, QUESTION)).toEqual({ value });
  });

  it("at most so much", () => {
    const queries = Array.from({ length: 9 }, (_, i) => `${i}${"x".repeat(300)}`);
    const reading = readPlan({ questions: Array(10).fill({ question: "Who?", queries }) }, QUESTION);
    const parts = "value" in reading ? reading.value : [];
    expect(parts).toHaveLength(8);
    expect(parts[0]?.queries).toHaveLength(5);
    expect(parts[0]?.queries[0]).toHaveLength(200);
  });

  it.each([{}, "a", 7, null, { questions: "Who?" }])("nothing else: %j", (reply) => {
    expect(readPlan(reply, QUESTION)).toEqual({ wrong: '"questions" is not a list' });
  });
});

describe("notes are read from", () => {
  const note = { claim: "c", source: 2, quote: "q" };
  it.each<[string, unknown, object]>([
    [
      "what was asked for",
      { facts: [note], answered: [1], queries: ["a"] },
      { facts: [note], answered: [1], queries: ["a"] },
    ],
    ["a bare list", [note], { facts: [note], answered: [], queries: [] }],
    [
      "numbers as text",
      { facts: [{ ...note, source: "Source 2" }], answered: "1" },
      { facts: [note], answered: [1], queries: [] },
    ],
    [
      "whole notes only",
      { facts: [{ claim: "c" }, note, null, { ...note, source: {} }] },
      { facts: [note], answered: [], queries: [] },
    ],
  ])("%s", (_name, reply, value) => {
    expect(readNotes(reply)).toEqual({ value });
  });

  it.each([{}, "a", { facts: note }])("nothing else: %j", (reply) => {
    expect(readNotes(reply)).toEqual({ wrong: '"facts" is not a list' });
  });
});

describe("an answer is read from", () => {
  const cited = { text: "t", facts: [1] };
  const empty = { sentences: [], sections: [], disagree: [], missing: [] };
  it.each<[string, unknown, object]>([
    ["sentences alone", { sentences: [cited] }, { ...empty, sentences: [cited] }],
    ["a bare list", [cited, "no"], { ...empty, sentences: [cited] }],
    [
      "sections of every kind",
      {
        sentences: [],
        sections: ["list", "steps", "table", "poem"].map((kind) => ({ kind, items: [cited] })),
      },
      {
        ...empty,
        sections: ["list", "steps", "table", "text"].map((kind) => ({
          title: "",
          kind,
          columns: [],
          items: [cited],
        })),
      },
    ],
    [
      "all the rest",
      { sentences: [], disagree: [{ sides: [cited] }, { about: "x", sides: 7 }], missing: ["m", 1] },
      {
        ...empty,
        disagree: [
          { about: "", sides: [cited] },
          { about: "x", sides: [] },
        ],
        missing: ["m"],
      },
    ],
  ])("%s", (_name, reply, value) => {
    expect(readAnswer(reply)).toEqual({ value });
  });

  it("titles of so many characters, since they are checked as a whole", () => {
    const long = "x".repeat(10_000);
    const reply = {
      sentences: [],
      sections: [{ title: long, columns: [long] }],
      disagree: [{ about: long }],
      missing: [long],
    };
    const cut = "x".repeat(200);
    expect(readAnswer(reply)).toEqual({
      value: {
        sentences: [],
        sections: [{ title: cut, kind: "text", columns: [cut], items: [] }],
        disagree: [{ about: cut, sides: [] }],
        missing: [cut],
      },
    });
  });

  it("nothing else", () => {
    expect(readAnswer({ sections: [] })).toEqual({ wrong: '"sentences" is not a list' });
  });
});

it("a schema asks for all of it and nothing else", () => {
  expect(PLAN.schema).toEqual({
    type: "object",
    properties: {
      questions: {
        type: "array",
        items: {
          type: "object",
          properties: { question: { type: "string" }, queries: { type: "array", items: { type: "string" } } },
          required: ["question", "queries"],
          additionalProperties: false,
        },
      },
    },
    required: ["questions"],
    additionalProperties: false,
  });
  expect(NOTES.schema).toMatchObject({ required: ["facts", "answered", "queries"] });
  expect(buildAnswerPrompt("short").schema).toMatchObject({
    properties: {
      sections: {
        items: { properties: { kind: { type: "string", enum: ["text", "list", "steps", "table"] } } },
      },
    },
  });
});

it("a plan sees what the sources are", () => {
  const description = { kind: "the web", documents: 0, titles: [], languages: [], unread: [], notes: [] };
  expect(buildPlanInput(QUESTION, description)).toBe("Question: Why?\n\nSources: the web");
  const titles = Array.from({ length: 41 }, (_, i) => `t${i}`);
  expect(buildPlanInput(QUESTION, { ...description, documents: 41, titles, languages: ["en", "de"] })).toBe(
    `Question: Why?\n\nSources: the web, 41 documents, languages: en, de, titles: ${titles.slice(0, 40).join("; ")}`,
  );
});

it("a plan sees the folders, and first the titles that fit the question", () => {
  const titles = Array.from({ length: 60 }, (_, i) => `The server, part ${i}`);
  titles.splice(50, 0, "Backups of the server (ops/backup.md)");
  const folders = ["ops (50)", "docs/api (11)"];
  const description = {
    kind: "a folder",
    documents: 61,
    titles,
    folders,
    languages: [],
    unread: [],
    notes: [],
  };
  const input = buildPlanInput("How does the server make backups?", description);
  expect(input).toContain(
    "folders: ops (50); docs/api (11), titles: Backups of the server (ops/backup.md); The server, part 0;",
  );
  expect(input).not.toContain("part 55");
});

it("a caption is shown once, and not behind the text that it is", () => {
  const rows = ["r1", "r2"].map((text) => passage(text, { caption: "Ports:", kind: "table" }));
  expect(buildSectionInput({ document, passages: rows }, 1)).toContain("Top]\n(Ports:)\nr1\n\nr2\n[End");
  expect(buildSectionInput({ document, passages: [passage("The Ports:"), ...rows] }, 1)).toContain(
    "Top]\nThe Ports:\n\nr1\n\nr2\n[End",
  );
});

it("what is open and known is shown, if there is any", () => {
  const fact = { claim: "c", document, line: 1, heading: "", quote: "q" };
  const parts = [
    { question: "Who?", isOpen: false },
    { question: "When?", isOpen: true },
  ];
  expect(buildKnownInput(QUESTION, parts.slice(1), [])).toBe("Question: Why?");
  expect(buildKnownInput(QUESTION, parts, [fact])).toBe(
    "Question: Why?\n\nStill open:\n2. When?\n\nKnown so far:\n- c",
  );
});

it("a section is shown with the headings and columns that change within it", () => {
  const header = ["Name", "Port"];
  const passages = [
    passage("one"),
    passage("two", { heading: "Top / Sub" }),
    passage("r1", { heading: "Top / Sub", header, kind: "table" }),
    passage("r2", { heading: "Top / Sub", header, kind: "table" }),
    passage("r3", { heading: "Top / Sub", caption: "Ports:", kind: "table" }),
  ];
  expect(buildSectionInput({ document, passages }, 3)).toBe(
    "[Source 3: A, a.md, 2026, Top]\none\n\n(Top / Sub)\ntwo\n\n(columns: Name | Port)\nr1\n\nr2\n\n(Ports:)\nr3\n[End of source 3]",
  );
  const plain = { document: { id: "a.md", title: "a.md" }, passages: [passage("one", { heading: "" })] };
  expect(buildSectionInput(plain, 1)).toBe("[Source 1: a.md]\none\n[End of source 1]");
});

it("a quote is asked for once more with its source, and facts are shown under their numbers", () => {
  const section = { document, passages: [passage("one")] };
  const again = buildRequoteInput(QUESTION, [{ claim: "c", quote: "q", section }]);
  expect(again).toMatch(
    /^Question: Why\?\n\n\[Source 1: A, a\.md, 2026, Top\]\none\n\[End of source 1\]\n\n/,
  );
  expect(again).toMatch(/\n1\. \{"claim":"c","source":1,"quote":"q"\}$/);
  const fact = { claim: "c", document, line: 1, heading: "Top", header: ["Name"], quote: "q" };
  expect(buildFactsInput(QUESTION, ["Who?"], [fact])).toBe(
    "Question: Why?\n\n[Fact 1: a.md, 2026, Top, columns Name]\nClaim: c\nQuote: q",
  );
  expect(buildFactsInput(QUESTION, ["Who?", "When?"], [])).toBe(
    "Question: Why?\n\nSub-questions:\n- Who?\n- When?",
  );
});
