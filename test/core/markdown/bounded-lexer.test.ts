import { describe, expect, test } from "vitest";
import { lexMarkdown, TooComplexError } from "../../../src/core/markdown/bounded-lexer.js";
import { parseMarkdown } from "../../../src/core/markdown/parse-markdown.js";

/** The words that are left of a document when all markup is taken away. */
const words = (markdown: string) => JSON.stringify(parseMarkdown(markdown));

describe("what marked cannot take becomes text:", () => {
  test.each([
    ["3,000 nested quotes", `${"> ".repeat(3_000)}deep`],
    ["3,000 nested lists in a line", `${"- ".repeat(3_000)}deep`],
    ["200 nested lists", Array.from({ length: 200 }, (_, i) => `${"  ".repeat(i)}- deep`).join("\n")],
    ["3,000 nested emphases", `${"*a **b ".repeat(3_000)}deep${" ** *".repeat(3_000)}`],
    ["a table of 100,000 columns", `${"|deep".repeat(100_000)}|\n${"|-".repeat(100_000)}|\n|a|\n`],
    ["a table that multiplies", `${"|deep".repeat(199)}|\n${"|-".repeat(199)}|\n${"|a\n".repeat(50_000)}`],
    ["a million marks", `${"a**b*c_".repeat(150_000)}deep`],
    ["links without end", `${"[a](b)".repeat(150_000)}deep`],
    ["an unclosed fence", `\`\`\`\n${"deep\n".repeat(100_000)}`],
  ])("%s", (_name, markdown) => {
    expect(words(markdown)).toContain("deep");
  });
});

test.each([
  ["lists and quotes in each other", "> - > - > - a\nb\n".repeat(5_000)],
  ["a list item of 20,000 lines", `- a\n${"b\n".repeat(20_000)}`],
  ["a list item of 20,000 indented lines", `1. a\n${"   b | c\n".repeat(20_000)}`],
])("a document that would take too long is given up: %s", (_name, markdown) => {
  expect(() => lexMarkdown(markdown)).toThrow(TooComplexError);
  expect(parseMarkdown(markdown).form).toBe("complex");
});

test.each([
  ["in one paragraph", "A line of a long item, wrapped at eighty columns as an editor would do it.\n", 300],
  ["in many paragraphs", `${"A line of it.\n  ".repeat(6)}\n  `, 3_000],
])("a list item of hundreds of lines keeps its markup: %s", (_name, text, times) => {
  expect(parseMarkdown(`- ${text.repeat(times)}`)).toMatchObject({
    form: "markup",
    blocks: [{ kind: "list" }],
  });
});

test("marks that would take too long to compare are text", () => {
  const markdown = "**a*\n".repeat(4_000);
  expect(words(markdown)).toContain("");
});

test("a paragraph of 20 kB keeps all its markup", () => {
  const sentence = "**Bold** words of a report and [a](https://x.y), with some more to say. ";
  expect(words(sentence.repeat(275)).match(/"strong"/g)).toHaveLength(275);
});

test("an honest report of 300 kB keeps all its markup", () => {
  const section = "## A\n\n**Bold** and [a](https://x.y).\n\n> - quoted\n>   text\n\n|a|b|\n|-|-|\n|1|2|\n\n";
  const { blocks: document } = parseMarkdown(section.repeat(4_000));
  const count = (kind: string) => document.filter((block) => block.kind === kind).length;
  expect([count("heading"), count("quote"), count("table"), count("html")]).toEqual([4_000, 4_000, 4_000, 0]);
});
