import { describe, expect, test } from "vitest";
import { cutAtLine, summaryOf } from "../../action/summary.js";

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
