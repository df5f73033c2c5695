import { expect, test } from "vitest";
import { escapeHtml } from "../../../../src/core/markdown/html/render-blocks.js";

test.each([
  [`<a b="c" d='e'>&amp;`, "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;"],
  ["a\u0000b\u001b\u009b\u202e\ud800", "a\\u{0}b\\u{1b}\\u{9b}\\u{202e}\\u{d800}"],
  ["a\n\tb \u200d", "a\n\tb \u200d"],
])("%j", (text, html) => {
  expect(escapeHtml(text)).toBe(html);
});
