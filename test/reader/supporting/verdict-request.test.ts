import { expect, test } from "vitest";
import { readVerdictReply } from "../../../src/reader/supporting/verdict-request.js";

const answer = (sentence: number) => ({ sentence, verdict: "not_stated", quote: "" });

test.each<[string, unknown, number[] | undefined]>([
  ["one answer for each sentence", { held: [answer(1), answer(2)] }, [1, 2]],
  ["fewer answers than sentences", { held: [answer(2)] }, [2]],
  ["no answer", { held: [] }, undefined],
  ["more answers than sentences", { held: [answer(1), answer(2), answer(3)] }, undefined],
  ["two answers for a sentence", { held: [answer(1), answer(1)] }, undefined],
  ["another form", { verdicts: [answer(1)] }, undefined],
  ["prose", "I have looked at all of them.", undefined],
])("a reply with %s", (_name, reply, sentences) => {
  const answers = readVerdictReply(reply, 2);
  expect(answers && [...answers.keys()]).toEqual(sentences);
});
