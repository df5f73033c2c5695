import { describe, expect, test } from "vitest";
import { formatEntryRow, formatEntryTable } from "../../../../src/cli/requests/request-table.js";
import { PLAIN } from "../../../../src/cli/terminal/style.js";
import type { HistoryEntry } from "../../../../src/client/store/history/history-records.js";
import { measureColumns } from "../../../../src/core/text/text-width.js";

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
  expect(formatEntryRow({ ...ENTRY, ...parts })).toBe(row);
});

const table = (entries: readonly HistoryEntry[], columns: number, style = PLAIN) =>
  formatEntryTable(entries, { now: NOW, columns, style, nameLength: () => 13 });

test("a table has its columns aligned, and ages from the time it was sent", () => {
  const unknown = { ...ENTRY, request_id: null, status: "UNKNOWN", created_at: null, prompt: "b" };
  const odd = { ...ENTRY, request_id: "a-longer-id", status: "COMPLETED", created_at: "soon", prompt: "c" };
  expect(table([ENTRY, unknown, odd], 80)).toBe(
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
  expect(table([], 80)).toBe("");
});

test("a prompt is cut to the width by whole characters", () => {
  const prompt = "😀".repeat(30);
  const promptIn = (columns: number) =>
    table([{ ...ENTRY, prompt }], columns)
      .split("\n")[1]
      ?.split("  ")
      .at(-1);
  // Each character takes two columns; id-1, PENDING, 2h 00m and three gaps take 23.
  expect(promptIn(23 + 19)).toBe(`${"😀".repeat(9)}…`);
  expect(promptIn(23 + 59)).toBe(`${"😀".repeat(29)}…`);
  expect(promptIn(23 + 60)).toBe(prompt);
});

describe("with ids of 53 characters", () => {
  const request_id = `resp_${"0123456789abcdef".repeat(3)}`;
  const prompt = "How do tide mills work, and which of them are still in use in Brittany today?";
  const entries = [
    { ...ENTRY, request_id, prompt, cost_dollars: 1.5 },
    { ...ENTRY, request_id: "short", prompt: "x" },
  ];
  const widest = (text: string) => Math.max(...text.split("\n").map(measureColumns));

  test.each([
    [60, "resp_01234567…  PENDING  2h 00m  How do tide mills work, an…"],
    [80, "resp_01234567…  PENDING  2h 00m  $1.50  How do tide mills work, and which of th…"],
    [
      100,
      "resp_01234567…  PENDING  2h 00m  $1.50  How do tide mills work, and which of them are still in use …",
    ],
    [
      140,
      `${request_id}  PENDING  2h 00m  $1.50  How do tide mills work, and which of them are still in use i…`,
    ],
  ])(
    "a row of %i columns cuts the id first, then the prompt, and has the cost where there is room",
    (columns, row) => {
      const shown = table(entries, columns);
      expect(shown.split("\n")[1]).toBe(row);
      expect(widest(shown)).toBeLessThanOrEqual(columns);
    },
  );

  test("ids that leave their prompts whole stay whole", () => {
    expect(table([{ ...ENTRY, request_id, prompt: "x" }], 80)).toContain(request_id);
  });

  test("a state that no service should have is not let past the edge", () => {
    expect(widest(table([{ ...ENTRY, status: "ODD ".repeat(40) }], 60))).toBeLessThanOrEqual(60);
  });
});

test("the head is dim and a state has its colour, which takes no room", () => {
  const sgr = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[39m`;
  const [head, line] = table([ENTRY], 80, { ...PLAIN, dim: sgr(2), busy: sgr(36) }).split("\n");
  expect(head).toBe(sgr(2)("ID    STATUS      AGE  PROMPT"));
  expect(line).toBe(`id-1  ${sgr(36)("PENDING")}  2h 00m  What is it?`);
});
