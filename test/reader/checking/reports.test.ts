import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readMarkdownClaims } from "../../../src/reader/checking/citations.js";

// Reports about one harbour, made up, each in the form in which its service exports it: file, places that cite, bare marks.
const REPORTS = new URL("reports/", import.meta.url);
const FORMS: Record<string, { cites: number; bare?: number; unused?: number }> = {
  "chatgpt-copy.md": { cites: 6 },
  "chatgpt-page-text.md": { cites: 0, bare: 5 },
  "claude-artifact.md": { cites: 0, bare: 2 },
  "claude-copy.md": { cites: 4 },
  "deepseek.md": { cites: 0, bare: 3 },
  "exa.md": { cites: 2 },
  "gemini-api.md": { cites: 4 },
  "gemini-docs.md": { cites: 7 },
  "grok-copy.md": { cites: 3 },
  "grok-page-text.md": { cites: 0, bare: 2 },
  "kimi.md": { cites: 2 },
  "manus.md": { cites: 2 },
  "mistral.md": { cites: 2 },
  "open-deep-research.md": { cites: 2 },
  "openai-api.md": { cites: 4 },
  "parallel.md": { cites: 3 },
  "perplexity-api.md": { cites: 3 },
  "perplexity-export.md": { cites: 6, unused: 2 },
  "tavily.md": { cites: 3 },
  "xai-api.md": { cites: 3 },
  "you-com.md": { cites: 2 },
};
/** What no sentence has: brackets and signs of marks, tags, addresses, titles of lists. */
const REST = /[[\]【】†\ue200-\ue202<>^]|https?:|oaicite|turn\d|\.\d$|(?:sources|references|citations):?$/i;

test("each file has a row", () => {
  expect(readdirSync(REPORTS)).toEqual(Object.keys(FORMS));
});

test.each(Object.entries(FORMS))("%s", (name, { cites, bare = 0, unused = 0 }) => {
  const report = readFileSync(new URL(name, REPORTS), "utf8");
  const { claims, marksWithoutSource, notCited } = readMarkdownClaims(report, { citations: [], sources: [] });
  const cited = claims.filter(({ urls }) => urls.length > 0);
  expect([cited.length, marksWithoutSource.length, notCited.length]).toEqual([cites, bare, unused]);
  expect(claims.filter(({ text }) => REST.test(text))).toEqual([]);
  // Whatever the form is, the sentence about the range leads to the page of the tides, and the connections to the report.
  for (const { text, urls } of cited) {
    if (text.includes("4.2 metres")) expect(urls[0]).toMatch(/^https:\/\/harbour\.example\/tides/);
    if (/1,[67]00/.test(text)) expect(urls[0]).toMatch(/^https:\/\/harbour\.example\/report/);
  }
});
