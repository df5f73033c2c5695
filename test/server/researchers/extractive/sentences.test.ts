import { expect, it } from "vitest";
import { linesOf, sentencesOf } from "../../../../src/server/researchers/extractive/sentences.js";
import type { Passage } from "../../../../src/server/researchers/sources/source.js";

const passage = (lines: string[], kind: Passage["kind"] = "prose"): Passage => ({
  id: "a",
  line: 10,
  lines,
  heading: "",
  kind,
});

it.each([
  [
    "over the ends of lines",
    ["One goes", "on here. Two", "ends."],
    "prose",
    ["One goes on here.", "Two ends."],
  ],
  [
    "not after abbreviations",
    ["Use a tool, e.g. this one, i.e. that. Done."],
    "prose",
    ["Use a tool, e.g. this one, i.e. that.", "Done."],
  ],
  ["without marks of lists", ["- [x] Done."], "prose", ["Done."]],
  [
    "links by their text",
    ["See [the page](https://example.org) and [`a`][]."],
    "prose",
    ["See the page and `a`."],
  ],
  ["a comment and its code", ["/** The most. */", "const MAX = 5;"], "code", ["The most.", "const MAX = 5;"]],
  ["a row", ["| Free | 10 |"], "table", ["Free; 10"]],
] as [string, string[], Passage["kind"], string[]][])("%s", (_name, lines, kind, expected) => {
  expect(sentencesOf(passage(lines, kind)).map(({ text }) => text)).toEqual(expected);
});

it("quotes what stands in the lines, from the first word to the last", () => {
  const given = passage(["One.  Two goes", "  on. Three."]);
  const [one, two] = sentencesOf(given);
  if (one === undefined || two === undefined) throw new Error("two sentences are expected");
  expect(linesOf(given, [two])).toEqual({ line: 10, lines: ["Two goes", "on."] });
  expect(linesOf(given, [one, two])).toEqual({ line: 10, lines: ["One.  Two goes", "on."] });
});
