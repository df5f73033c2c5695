import { describe, expect, test } from "vitest";
import { isFinal, isRequestId } from "../../../src/core/protocol/conversation.js";

test.each([
  ["PENDING", false],
  ["PROCESSING", false],
  ["COMPLETED", true],
  ["FAILED", true],
  ["STOPPED", true],
  ["DREAMING", false],
  ["completed", false],
  ["", false],
])("§3: %j is final: %j", (status, final) => {
  expect(isFinal(status)).toBe(final);
});

describe("a request id", () => {
  test.each(["a", "-", "_", "0", "a.b", "a..", `a${"b".repeat(511)}`, "agent_run_1:2", "3f2a-77_x.Z"])(
    "%j is one",
    (id) => {
      expect(isRequestId(id)).toBe(true);
    },
  );

  test.each([
    ...[
      "",
      ".",
      "..",
      ".a",
      "a/b",
      "a b",
      "a\n",
      "\na",
      "ä",
      "a%2f",
      "a?b",
      "a#b",
      `a${"b".repeat(512)}`,
      ":a",
    ],
    ...[undefined, null, 7, {}, ["a"]],
  ])("%j is none", (id) => {
    expect(isRequestId(id)).toBe(false);
  });
});
