import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findJson } from "../../../src/reader/model/endpoint/json-reply.js";
import { checkAnswer } from "../../../src/reader/writing/checks/check-answer.js";
import { readAnswer } from "../../../src/reader/writing/prompts.js";

// What real models replied to an earlier version of the prompts.
const REPLIES = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../support/texts/model-replies.json"), "utf8"),
);

/** What becomes of the last reply of `name`: its texts, and what was wrong. */
function becomes(name: "howto" | "careless") {
  const { facts, reply, question } = REPLIES[name];
  const knownFacts = facts.map(({ title, claim, quote }: Record<string, string>) => {
    const [id = "", ...heading] = (title ?? "").split(", ");
    return { claim, document: { id, title: id }, line: 1, heading: heading.join(", "), quote };
  });
  const draft = readAnswer(findJson(reply, true));
  if ("wrong" in draft) throw new Error(draft.wrong);
  return checkAnswer(draft.value, knownFacts, question);
}

it("a how-to in German keeps its five steps", () => {
  const { answer, wrong } = becomes("howto");
  expect(wrong).toEqual([]);
  const [steps] = answer.sections;
  expect(steps?.kind).toBe("steps");
  expect(steps?.items.filter(({ goesOn }) => !goesOn)).toHaveLength(5);
  expect(answer.sentences).toHaveLength(1);
});

it("a careless answer loses what its quotes do not say", () => {
  const { answer, wrong } = becomes("careless");
  expect(wrong.join("\n")).toContain("it names no fact");
  // Its quote says 2 weeks, which are 14 days.
  expect(answer.sentences[0]?.text).toContain("for 2 weeks (14 days)");
});
