import { expect, test } from "vitest";
import { entryRow, entryTable } from "../../../../src/cli/requests/table.js";
import { PLAIN } from "../../../../src/cli/terminal/reporter.js";
import type { HistoryEntry } from "../../../../src/store/history/history.js";
import { columnsOf } from "../../../../src/text/width.js";
import { NAMED } from "../../../support/style.js";

const NOW = Date.UTC(2030, 0, 1, 12);
const ENTRY: HistoryEntry = {
  ...{ local_id: "local-1", request_id: "id-1", status: "PENDING", prompt: "What is it?" },
  ...{ created_at: "2030-01-01T11:00:00Z", sent_at: "2030-01-01T10:00:00Z", origin: "o", profile: null },
  ...{ key_id: "k", structured_output: false, output_schema: null },
};

test.each<[string, Partial<HistoryEntry>, string]>([
  ["a request", {}, "id-1\tPENDING\t2030-01-01T11:00:00Z\tWhat is it?"],
  [
    "an unknown outcome",
    { request_id: null, status: "UNKNOWN", created_at: null },
    "local-1\tUNKNOWN\t2030-01-01T10:00:00Z\tWhat is it?",
  ],
  [
    "tabs and line breaks in what comes from outside",
    { prompt: "a\tb\nc", status: "A\tB", created_at: "x\ty" },
    "id-1\tA B\tx y\ta b c",
  ],
])("a line for a script: %s", (_, parts, row) => {
  expect(entryRow({ ...ENTRY, ...parts })).toBe(row);
});

test("a table has its columns aligned, and ages from the time it was sent", () => {
  const unknown = { ...ENTRY, request_id: null, status: "UNKNOWN", created_at: null, prompt: "b" };
  const odd = { ...ENTRY, request_id: "a-longer-id", status: "COMPLETED", created_at: "soon", prompt: "c" };
  expect(entryTable([ENTRY, unknown, odd], NOW, 80, PLAIN)).toBe(
    [
      "ID           STATUS        AGE  PROMPT",
      "id-1         PENDING    2h 00m  What is it?",
      "local-1      UNKNOWN    2h 00m  b",
      "a-longer-id  COMPLETED  2h 00m  c",
      "",
    ].join("\n"),
  );
});

test("no entries are no table", () => {
  expect(entryTable([], NOW, 80, PLAIN)).toBe("");
});

test("a prompt is cut to the width, by whole characters, and never below 20 columns", () => {
  const prompt = "😀".repeat(30);
  const promptIn = (columns: number) =>
    entryTable([{ ...ENTRY, prompt }], NOW, columns, PLAIN)
      .split("\n")[1]
      ?.split("  ")
      .at(-1);
  // Each character takes two columns.
  expect(promptIn(0)).toBe(`${"😀".repeat(9)}…`);
  // id-1, PENDING, 2h 00m and three gaps take 23 columns.
  expect(promptIn(23 + 59)).toBe(`${"😀".repeat(29)}…`);
  expect(promptIn(23 + 60)).toBe(prompt);
});

test("the head is dim and a state has its colour, which takes no room", () => {
  const [head, line] = entryTable([ENTRY], NOW, 80, NAMED).split("\n");
  expect(head).toBe("<dim>ID    STATUS      AGE  PROMPT</>");
  expect(line).toBe("id-1  <busy>PENDING</>  2h 00m  What is it?");
});

test("a prompt whose characters take two columns each is cut to the terminal", () => {
  const entries = [{ ...ENTRY, prompt: "潮の満ち引きはどのように起こるのか".repeat(4) }];
  const [, line = ""] = entryTable(entries, NOW, 80, PLAIN).split("\n");
  expect(columnsOf(line)).toBeLessThanOrEqual(80);
  expect(columnsOf(line)).toBeGreaterThanOrEqual(79);
  expect(line).toMatch(/潮.*…$/u);
});
