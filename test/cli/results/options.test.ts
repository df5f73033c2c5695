import { expect, test } from "vitest";
import type { Given } from "../../../src/cli/commands/shared-flags.js";
import { checkResultOptions, listResultArguments } from "../../../src/cli/results/show-result.js";

// reading.test.ts has what excludes each other.
test.each<[string, Given<"result">, boolean]>([
  ["JSON", {}, true],
  ["--raw and JSON", { raw: true }, true],
  ["--html and stdout", { html: true, output: "-" }, false],
  ["--raw and stdout", { raw: true, output: "-" }, false],
])("go together: %s", (_name, options, json) => {
  expect(() => checkResultOptions(options, json)).not.toThrow();
});

test("the command that goes on delivers in the same way", () => {
  const all = { output: "a", force: true, strict: true, raw: true, html: true, web: true };
  expect(listResultArguments(all)).toEqual(["-o", "a", "--force", "--strict", "--raw", "--html", "--web"]);
  expect(listResultArguments({})).toEqual([]);
});
