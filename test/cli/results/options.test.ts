import { describe, expect, test } from "vitest";
import type { Given } from "../../../src/cli/commands/flags.js";
import { checkResultOptions, resultWords } from "../../../src/cli/results/show.js";
import { UsageError } from "../../../src/machine/errors.js";

describe("exclude each other:", () => {
  test.each<[string, Given<"result">, boolean]>([
    ["--html and JSON", { html: true }, true],
    ["--html and --raw", { html: true, raw: true }, false],
    ["--web and JSON", { web: true }, true],
    ["--web and --raw", { web: true, raw: true }, false],
    ["--web and a file", { web: true, output: "page.html" }, false],
    ["--web and stdout", { web: true, output: "-" }, false],
  ])("%s", (_name, options, json) => {
    expect(() => checkResultOptions(options, json)).toThrow(UsageError);
  });
});

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
  expect(resultWords(all)).toEqual(["-o", "a", "--force", "--strict", "--raw", "--html", "--web"]);
  expect(resultWords({})).toEqual([]);
});
