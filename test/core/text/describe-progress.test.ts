import { expect, it } from "vitest";
import { describeProgress, describeUsage, formatDollars } from "../../../src/core/text/describe-progress.js";

it.each<[unknown, string | undefined]>([
  [{ step: "read", done: 7, of: 12, pages: 3, calls: 9, tokens: 48_000 }, "reading 7 of 12, 48,000 tokens"],
  [{ step: "plan", done: 0, of: 0, tokens: 0 }, "planning"],
  [{ step: "search", done: 1, of: 3 }, "searching 1 of 3"],
  [{ step: "note", done: 1.5, of: 3, tokens: -1 }, "noting"],
  [{ step: "write", tokens: "many" }, "writing"],
  [{ step: "constructor" }, undefined],
  [{ step: "\u001b[2J" }, undefined],
  [{}, undefined],
  [null, undefined],
  ["reading", undefined],
])("the progress %j is %j", (progress, words) => {
  expect(describeProgress(progress)).toBe(words);
});

it.each([
  ...[
    [12.3456, "$12.35"],
    [1, "$1.00"],
    [0.1, "$0.10"],
    [0.42, "$0.42"],
  ],
  ...[
    [0.425, "$0.425"],
    [0.0421, "$0.0421"],
    [0.00001, "$0.00"],
    [0, "$0.00"],
  ],
] as [number, string][])("the cost %d is %s", (cost, words) => {
  expect(formatDollars(cost)).toBe(words);
});

it.each<[unknown, string | undefined]>([
  [
    { calls: 12, input_tokens: 40_000, output_tokens: 8_000, cost_dollars: 0.0421 },
    "12 calls, 48,000 tokens, $0.0421",
  ],
  [{ calls: 1, cost_dollars: 12 }, "1 call, $12.00"],
  [{ input_tokens: 5 }, undefined],
  ["much", undefined],
  [undefined, undefined],
])("the usage %j is %j", (usage, words) => {
  expect(describeUsage(usage)).toBe(words);
});
