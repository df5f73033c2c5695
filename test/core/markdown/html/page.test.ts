import { expect, test } from "vitest";
import { stateClass } from "../../../../src/core/markdown/html/page.js";

test.each([
  ["COMPLETED", "done"],
  ["PROCESSING", "busy"],
  ["WAITING", "idle"],
  ["STOPPED", "idle"],
  ["FAILED", "bad"],
  ["UNKNOWN", "bad"],
  ["<anything>", "bad"],
])("%s looks %s", (state, look) => {
  expect(stateClass(state)).toBe(look);
});
