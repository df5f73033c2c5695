import { describe, expect, test } from "vitest";
import { batchSummary, cutAtLine, summaryOf } from "../../action/summary.js";

describe("a text is cut at the end of a line", () => {
  test.each([
    ["short", 10, "short"],
    ["one\ntwo\n", 8, "one\ntwo\n"],
    ["one\ntwo\n", 7, "one\n"],
    ["one\ntwo\n", 4, "one\n"],
    ["one\ntwo\n", 3, "one"],
    ["ééé", 3, "é"],
    ["💡", 3, ""],
  ])("%j at %i bytes is %j", (text, maxBytes, expected) => {
    expect(cutAtLine(text, maxBytes)).toBe(expected);
  });
});

test("Markdown stays as it is", () => {
  expect(summaryOf("# A\n\ntext\n", "r.md")).toBe("# A\n\ntext\n");
});

test("JSON stands in a code block that it cannot leave", () => {
  const json = `{"text": "\`\`\`\\n# not a heading"}`;
  expect(summaryOf(json, "r.json")).toBe(`\`\`\`\`json\n${json}\n\`\`\`\`\n`);
});

test("a result over 900 kB is cut, and says so", () => {
  const line = `${"x".repeat(99)}\n`;
  const summary = summaryOf(line.repeat(20_000), "a `b` c.md");
  expect(Buffer.byteLength(summary)).toBeLessThan(901_000);
  expect(summary.startsWith(line.repeat(8_999))).toBe(true);
  expect(summary.endsWith("_Cut here. The whole result is in `` a `b` c.md ``._\n")).toBe(true);
});

test("a batch is a count of each state, and a row for each question as it ended last", () => {
  const line = (row: string, prompt: string, status: string, file: string | null) =>
    `${JSON.stringify({ row, prompt, status, file })}\n`;
  const results = [
    line("1", "why?", "FAILED", null),
    line("2", "a | `b`\n# c <script>", "COMPLETED", "line-2.md"),
    line("1", "why?", "COMPLETED", "line-1.md"),
    line("3", "x".repeat(300), "FAILED", null),
    '{"row": "torn',
  ];
  expect(batchSummary(results.join(""), "answers").split("\n")).toEqual([
    "**2 COMPLETED, 1 FAILED** in ` answers `",
    "",
    "| question | state | file |",
    "|---|---|---|",
    "| ` why? ` | ` COMPLETED ` | ` line-1.md ` |",
    "| `` a \\| `b` # c <script> `` | ` COMPLETED ` | ` line-2.md ` |",
    `| \` ${"x".repeat(200)}… \` | \` FAILED \` |  |`,
    "",
  ]);
  const many = Array.from({ length: 10_000 }, (_, i) =>
    line(String(i), "x".repeat(200), "COMPLETED", "f.md"),
  );
  const summary = batchSummary(many.join(""), "answers");
  expect(Buffer.byteLength(summary)).toBeLessThan(901_000);
  expect(summary).toMatch(/^\*\*10000 COMPLETED\*\*.*\n_Cut here. The folder has all of them._\n$/s);
});
