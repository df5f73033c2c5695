import { expect, test } from "vitest";
import { escapeMarkdown, formatAutolink } from "../../../src/core/markdown/escape-markdown.js";

test.each([
  ["a *b*\n# c", "a \\*b\\* # c"],
  ["red \u001b[31m", "red \\\\u{1b}\\[31m"],
  ["turned \u202e over", "turned \\\\u{202e} over"],
  ["می\u200cروم", "می\u200cروم"],
])("%j is shown as it is, and nothing in it acts", (text, escaped) => {
  expect(escapeMarkdown(text)).toBe(escaped);
});

test.each([
  ["https://a.example/x?y=1", "<https://a.example/x?y=1>"],
  ["https://a.example/a b>c", "<https://a.example/a%20b%3Ec>"],
  ["https://a.example/\u001b[2J\u202e", "<https://a.example/%1B[2J%E2%80%AE>"],
])("the address %j is a link to its end", (url, link) => {
  expect(formatAutolink(url)).toBe(link);
});
