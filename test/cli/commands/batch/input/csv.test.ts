import { expect, test } from "vitest";
import { parseCsv } from "../../../../../src/cli/commands/batch/input/formats.js";

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

test.each([
  ["a,b\n1\n", 2, "it has 1 cell, and the header names 2 columns"],
  ["a,b\n1,2,3\n", 2, "it has 3 cells, and the header names 2 columns"],
  ["a,b,a\n1,2,3\n", 1, 'two columns are named "a"'],
  ['a,b\n1,2\n"x" y,2\n', 3, expect.stringMatching(/^invalid CSV: /)],
])("%j is a fault of line %d", (text, line, reason) => {
  expect(parseCsv(text).faults).toEqual([{ line, reason }]);
});

test("a bad record does not hide the ones beside it", () => {
  const { records, faults } = parseCsv("a,b\n1\n2,3\n");
  expect([records.map(({ line }) => line), faults.map(({ line }) => line)]).toEqual([[3], [2]]);
});

test("an empty input has no columns", () => {
  expect(parseCsv("")).toEqual({ records: [], faults: [], columns: [] });
});
