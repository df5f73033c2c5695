import { expect, test } from "vitest";
import { statusLine, statusWord } from "../../../src/cli/requests/answers.js";
import { NAMED } from "../../support/style.js";

test.each([
  ["COMPLETED", "<good>COMPLETED</>"],
  ["FAILED", "<bad>FAILED</>"],
  ["UNKNOWN", "<bad>UNKNOWN</>"],
  ["STOPPED", "<dim>STOPPED</>"],
  ["PENDING", "<busy>PENDING</>"],
  ["A\nB\u001b", "<busy>A B\\u{1b}</>"],
])("%j is shown as %s", (status, word) => {
  expect(statusWord(status, NAMED)).toBe(word);
  expect(statusLine("id", status, NAMED)).toBe(`id\t${word}`);
});
