import { expect, test } from "vitest";
import { parseJsonLines } from "../../../../../src/cli/commands/batch/input/parse-formats.js";

test("an object a line; anything else is a fault of its line", () => {
  expect(parseJsonLines('{"a":1}\n\r\n[1]\nnull\n"x"\n{"b":\n{}\n7')).toEqual({
    records: [
      { line: 1, fields: { a: 1 } },
      { line: 7, fields: {} },
    ],
    faults: [3, 4, 5, 6, 8].map((line) => ({ line, reason: "not a JSON object" })),
  });
});
