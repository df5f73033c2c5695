import { expect, it } from "vitest";
import { readQuestion } from "../../../../src/server/researchers/extractive/question.js";

/** A question, what it is about, a text that says what it asks for, and one that does not. */
it.each([
  ["How long can an identifier be?", ["identifi"], "at most 63 bytes", "as long as needed"],
  ["How many threads are there?", ["thread"], "there are 4", "there are some"],
  ["What is the default of wal_size?", ["default", "wal_size", "wal", "siz"], "the default is 1", "it is 1"],
  ["Who may publish new versions?", ["publish", "new", "version"], "only an owner", "every Tuesday"],
  ["Why is it slow?", ["slow"], "because of the disk", "it is slow"],
  ["What happens after a crash?", ["crash"], "it throws", "nothing much"],
  ["Where is the log?", ["log"], "in /var/log", "in a drawer"],
  ["When does a lease end?", ["leas", "end"], "after an hour", "an hour"],
  ["What is the difference of the two?", ["differenc", "two"], "one waits, but two does not", "both wait"],
  ["Can a request be repeated?", ["request", "repeat"], "it must not", "it is repeated"],
  ["How do I repeat it?", ["repeat"], "with `--again`", "again and again"],
])("%s", (prompt, terms, says, other) => {
  const question = readQuestion(prompt);
  expect(question.terms).toEqual(terms);
  const share = (text: string) => question.kinds.filter((kind) => kind.says.test(text)).length;
  expect(share(says)).toBeGreaterThan(share(other));
});

it("a list of words asks for nothing in particular", () => {
  expect(readQuestion("zebra migration")).toMatchObject({ terms: ["zebra", "migration"], kinds: [] });
});
