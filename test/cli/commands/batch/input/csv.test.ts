import { expect, test } from "vitest";
import { parseCsv } from "../../../../../src/cli/commands/batch/input/parse-formats.js";

test("records have the line where they begin, and their cells by column", () => {
  expect(parseCsv(' key ,prompt\na,"two\nlines"\n\nb,\n"x\n\ny",z\n')).toEqual({
    ...{ faults: [], columns: ["key", "prompt"] },
    records: [
      { line: 2, fields: { key: "a", prompt: "two\nlines" } },
      { line: 5, fields: { key: "b", prompt: "" } },
      { line: 6, fields: { key: "x\n\ny", prompt: "z" } },
    ],
  });
});

test("two columns of one name are a fault of the header", () => {
  expect(parseCsv("a,b,a\n1,2,3\n").faults).toEqual([{ line: 1, reason: 'two columns are named "a"' }]);
});

test("an empty input has no columns", () => {
  expect(parseCsv("")).toEqual({ records: [], faults: [], columns: [] });
});
