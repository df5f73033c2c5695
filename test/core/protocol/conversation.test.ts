import { describe, expect, test } from "vitest";
import { insertContextFiles, isFinal, isRequestId } from "../../../src/core/protocol/conversation.js";

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

describe("the body that is sent", () => {
  const file = (name: string, text: string) => ({ name, text, chars: text.length, sha256: "" });

  test("has each file before the question, between its name and a rule", () => {
    const context = [file("a.md", "one\n"), file("b c.txt", "two"), file("a.md", "3\n\n")];
    expect(insertContextFiles({ prompt: "Why?\n", context, model: "m" })).toEqual({
      prompt: "## a.md\none\n---\n## b c.txt\ntwo\n---\n## a.md\n3\n\n---\nWhy?\n",
      model: "m",
    });
  });

  test("is that of the question alone without a context", () => {
    expect(insertContextFiles({ prompt: "Why?" })).toEqual({ prompt: "Why?" });
  });
});
