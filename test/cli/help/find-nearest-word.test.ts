import { expect, test } from "vitest";
import { findNearest } from "../../../src/cli/help/find-nearest-word.js";

test.each([
  ["statsu", ["stop", "status", "list"], "status"],
  ["exit-code", ["environment", "exit-codes"], "exit-codes"],
  ["", ["ab", "a"], "a"],
  ["zzz", ["abc", "xyz"], "xyz"],
  ["same", ["sane", "sale"], "sane"],
  ["anything", [], undefined],
])("%j is nearest to one of %j", (word, candidates, expected) => {
  expect(findNearest(word, candidates)).toBe(expected);
});
