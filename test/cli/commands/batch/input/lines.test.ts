import { expect, test } from "vitest";
import { parseJsonLines, parseLines } from "../../../../../src/cli/commands/batch/input/formats.js";

test("a prompt a line, blank lines passed over and counted", () => {
  expect(parseLines("one\r\n\n \t\n two \n{}")).toEqual({
    ...{ faults: [], columns: ["prompt"] },
    records: [
      { line: 1, fields: { prompt: "one" } },
      { line: 4, fields: { prompt: " two " } },
      { line: 5, fields: { prompt: "{}" } },
    ],
  });
});

test("an object a line; anything else is a fault of its line", () => {
  expect(parseJsonLines('{"a":1}\n\r\n[1]\nnull\n"x"\n{"b":\n{}\n7')).toEqual({
    records: [
      { line: 1, fields: { a: 1 } },
      { line: 7, fields: {} },
    ],
    faults: [3, 4, 5, 6, 8].map((line) => ({ line, reason: "not a JSON object" })),
  });
});
