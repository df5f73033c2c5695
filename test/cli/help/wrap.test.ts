import { expect, test } from "vitest";
import { definitions, TOPICS, unfolded } from "../../../src/cli/help/topics.js";
import { fold } from "../../../src/ground/text/width.js";

test("explanations stand in one column", () => {
  expect(
    definitions([
      ["a", "one"],
      ["long", "two"],
    ]),
  ).toBe("  a     one\n  long  two\n");
});

test.each(TOPICS)("$name keeps its words when its lines are joined, and fits 60 columns", ({ text }) => {
  const joined = unfolded(text);
  expect(joined.split(/\s+/)).toEqual(text.split(/\s+/));
  const narrow = fold(joined, 60).split("\n");
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(60);
  expect(joined.split("\n").length).toBeLessThanOrEqual(text.split("\n").length);
});

test("a line that is full goes on in the next one, another one ends", () => {
  const full = `${"x ".repeat(39)}y`;
  expect(unfolded(`${full}\ngoes on\nends`)).toBe(`${full} goes on\nends`);
  expect(unfolded(`  a  ${"b ".repeat(36)}\n     word\n  c  d`)).toBe(`  a  ${"b ".repeat(36)} word\n  c  d`);
  expect(unfolded(`${full}\n\n  set off`)).toBe(`${full}\n\n  set off`);
});
