import { expect, test } from "vitest";
import { chooseStateClass } from "../../../../src/core/markdown/html/page-template.js";

test.each([
  ["COMPLETED", "done"],
  ["PROCESSING", "busy"],
  ["WAITING", "idle"],
  ["STOPPED", "idle"],
  ["FAILED", "bad"],
  ["UNKNOWN", "bad"],
  ["<anything>", "bad"],
])("%s looks %s", (state, look) => {
  expect(chooseStateClass(state)).toBe(look);
});
