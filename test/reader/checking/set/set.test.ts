import { expect, test } from "vitest";
import type { Verdict } from "../../../../src/core/protocol/check-outcome.js";
import { readMarkdownClaims } from "../../../../src/reader/checking/citations.js";
import { type CitedPage, judgeSentence } from "../../../../src/reader/checking/judge-sentence.js";
import { buildPageContent } from "../../../../src/reader/checking/report-checker.js";
import { detectLanguage } from "../../../../src/reader/languages/vocabulary.js";
import { splitDocument } from "../../../../src/reader/parsing/documents/split-document.js";
import { splitSentences } from "../../../../src/reader/parsing/split-sentences.js";
import { pdf } from "../../../support/pdf.js";
import { PAGES, PAPER } from "./pages.js";
import { SENTENCES, type Truth } from "./sentences.js";

const pages = new Map<string, CitedPage>([
  ["404", { entry: { state: "gone", reason: "it answered 404" } }],
  ["403", { entry: { state: "unreadable", reason: "it answered 403" } }],
]);
for (const [name, html] of Object.entries(PAGES)) {
  const type = name === "paper" ? "application/pdf" : "text/html";
  const bytes = name === "paper" ? pdf(...PAPER) : new TextEncoder().encode(html);
  const read = await splitDocument({ name, bytes, page: { type, charset: "utf-8" }, wantsText: true });
  if ("reason" in read) throw new Error(`${name}: ${read.reason}`);
  pages.set(name, { entry: { state: "read", reason: null }, content: buildPageContent(read) });
}

const report = SENTENCES.map(([, text, ...cited]) => {
  const marks = cited.map((name) => `[${[...pages.keys()].indexOf(name) + 1}]`).join("");
  return `${text} ${marks}`;
}).join("\n\n");
const list = [...pages.keys()].map((name, i) => `${i + 1}. https://${name}.example/`).join("\n");

/** What each sentence was given, in their order. */
const given = await Promise.all(
  readMarkdownClaims(`${report}\n\n## Sources\n\n${list}`, { citations: [], sources: [] }).claims.map(
    async ({ text, urls }) => {
      const cited = urls.flatMap((url) => pages.get(new URL(url).hostname.replace(".example", "")) ?? []);
      return { text, ...(await judgeSentence(text, cited, detectLanguage(text))) };
    },
  ),
);
const of = (truth: Truth, ...verdicts: Verdict[]) =>
  SENTENCES.flatMap(([its], i) => {
    const citation = given[i];
    return its === truth && citation && verdicts.includes(citation.verdict)
      ? [`${citation.text} (${citation.missing.join("; ")})`]
      : [];
  });
const countOf = (truth: Truth) => SENTENCES.filter(([its]) => its === truth).length;

test("the set has 80 sentences, and each is one citation", () => {
  expect(SENTENCES).toHaveLength(80);
  expect(given.map(({ text }) => text)).toEqual(SENTENCES.map(([, text]) => text));
});

// Before anything was changed for it: 2 of 50 accused, 1 of 24 believed, 22 of 24 missing.
test("at most 2 % of the right sentences are accused, and at most 15 % of the inventions are believed", () => {
  expect(of("right", "missing", "gone").length).toBeLessThanOrEqual(0.02 * countOf("right"));
  expect(of("invented", "found").length).toBeLessThanOrEqual(0.15 * countOf("invented"));
});

test("what is gone or cannot be read is said to be", () => {
  expect(of("gone", "gone")).toHaveLength(countOf("gone"));
  expect(of("unreadable", "unreadable")).toHaveLength(countOf("unreadable"));
});

/** The sentences of the pages themselves. */
const copied = [...pages].flatMap(([name, page]) => {
  const passages = page.content?.passages ?? [];
  return passages.flatMap(({ text }) =>
    [...splitSentences(text)].map(({ segment }) => [name, segment.trim()] as const),
  );
});

test("no sentence that is copied from its page is accused", async () => {
  expect(copied.length).toBeGreaterThan(40);
  const judged = await Promise.all(
    copied.map(([name, text]) => judgeSentence(text, [pages.get(name) as CitedPage], detectLanguage(text))),
  );
  expect(copied.filter((_, i) => !["found", "unchecked"].includes(judged[i]?.verdict ?? ""))).toEqual([]);
});

test("a number of which one digit is changed, so that it stands nowhere on the page, is missing", async () => {
  const changed = copied.flatMap(([name, text]) => {
    const number = /\d{1,3}(?:[.,]\d{3})+|\d{4,}/.exec(text)?.[0];
    if (number === undefined) return [];
    const other = number.replace(/\d$/, (digit) => String((Number(digit) + 7) % 10));
    return copied.some(([, one]) => one.includes(other))
      ? []
      : [[name, text.replace(number, other), other] as const];
  });
  expect(changed.length).toBeGreaterThan(10);
  for (const [name, text, other] of changed) {
    const judged = await judgeSentence(text, [pages.get(name) as CitedPage], detectLanguage(text));
    expect(judged, text).toMatchObject({ verdict: "missing" });
    expect(judged.missing.join("; "), text).toContain(other);
  }
});
