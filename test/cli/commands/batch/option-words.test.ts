import { expect, test } from "vitest";
import { listFlagArguments } from "../../../../src/cli/command-context.js";

test.each<[object, string[]]>([
  [{}, []],
  [{ retryFailed: true, structured: false, tier: undefined }, ["--retry-failed"]],
  [{ perHour: 5, maxFailures: 0 }, ["--per-hour", "5", "--max-failures", "0"]],
  [
    { timeout: 90_000, interval: 2, patience: 3 },
    ["--timeout", "90000ms", "--interval", "2ms", "--patience", "3ms"],
  ],
  [{ output: "a b" }, ["--output", "a b"]],
  [{ aLongName: "x" }, ["--a-long-name", "x"]],
])("the words of %j", (options, words) => {
  expect(listFlagArguments(options)).toEqual(words);
});
