import { expect, it } from "vitest";
import { readQuestion } from "../../../../src/server/researchers/extractive/question.js";

it.each([
  ["How long can an identifier be?", ["identifi"], ["measure"]],
  ["What is the default of shared_buffers?", ["default", "shared_buffers"], ["default"]],
  ["Who may publish new versions?", ["publish", "new", "version"], ["person"]],
  ["Why is it slow?", ["slow"], ["reason"]],
  ["zebra migration", ["zebra", "migration"], []],
])("%s", (prompt, terms, kinds) => {
  const question = readQuestion(prompt);
  expect(question.terms).toEqual(terms);
  expect(question.kinds.map(({ name }) => name)).toEqual(kinds);
});
