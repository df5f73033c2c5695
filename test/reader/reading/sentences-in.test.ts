import { expect, it } from "vitest";
import { sentencesIn } from "../../../src/reader/reading/sentences-in.js";

const read = (text: string) => [...sentencesIn(text)];

it("gives sentence after sentence, each with its place", () => {
  expect(read("One is here. Two? Three")).toEqual([
    { segment: "One is here. ", index: 0 },
    { segment: "Two? ", index: 13 },
    { segment: "Three", index: 18 },
  ]);
  expect(read("")).toEqual([]);
});

it.each(["?maximum ", "Words without an end ", "x", "\u{1f600}"])(
  "leaves nothing out of a long text of %j",
  (word) => {
    const text = word.repeat(30_000);
    const found = read(text);
    expect(found.map(({ segment }) => segment).join("")).toBe(text);
    expect(found.every(({ segment, index }) => text.startsWith(segment, index))).toBe(true);
    if (word.startsWith("W")) expect(found.every(({ segment }) => segment.endsWith(" "))).toBe(true);
  },
);
