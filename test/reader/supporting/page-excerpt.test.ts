import { expect, test } from "vitest";
import { PageContent } from "../../../src/reader/checking/indexed-page.js";
import { measureSize, PageExcerpt } from "../../../src/reader/supporting/page-excerpt.js";

/** A sentence of 40 characters. */
const SENTENCE = "The bridge has carried trams since 1932. ";
const excerptOf = (text: string) => new PageExcerpt(new PageContent([{ text, over: "" }]));

test.each([
  [1, 1],
  [19, 1],
  [20, 2],
  [60, 4],
])("a passage of %i sentences is shown in %i pieces, cut at the ends of sentences", (sentences, count) => {
  const { pieces } = excerptOf(SENTENCE.repeat(sentences).trim());
  expect(pieces).toHaveLength(count);
  expect(pieces.map(({ text }) => text).join(" ")).toBe(SENTENCE.repeat(sentences).trim());
  expect(pieces.every((piece) => measureSize([piece]) <= 800 && piece.text.endsWith("."))).toBe(true);
});

test("a sentence without an end is cut where a piece is full", () => {
  const { pieces } = excerptOf("x".repeat(2_000));
  expect(pieces.map(({ text }) => text.length)).toEqual([800, 800, 400]);
});

test("a passage of exactly the longest size is one piece", () => {
  const content = new PageContent([{ text: "x".repeat(800), over: "" }]);
  expect(new PageExcerpt(content).content).toBe(content);
});
