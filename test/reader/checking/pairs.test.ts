import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readMarkdownClaims } from "../../../src/reader/checking/citations.js";
import { judgeSentence } from "../../../src/reader/checking/judge-sentence.js";
import { buildPageContent } from "../../../src/reader/checking/report-checker.js";
import { detectLanguage } from "../../../src/reader/languages/vocabulary.js";
import { splitDocument } from "../../../src/reader/parsing/documents/split-document.js";

const A = "https://a.example/x";

/** A sentence of a report, held against a page of that HTML. */
async function held(sentence: string, html: string) {
  const bytes = new TextEncoder().encode(
    `<title>Page</title>${html.startsWith("<") ? html : `<p>${html}</p>`}`,
  );
  const page = { type: "text/html", charset: "utf-8" };
  const document = await splitDocument({ name: "page", bytes, page, wantsText: true });
  if ("reason" in document) throw new Error(document.reason);
  const [claim] = readMarkdownClaims(`${sentence} [x](${A})`, { citations: [], sources: [] }).claims;
  const content = buildPageContent(document);
  return judgeSentence(
    claim?.text ?? "",
    [{ entry: { state: "read", reason: null }, content }],
    detectLanguage(sentence),
    claim?.over,
  );
}

/** A sentence and a page that says the same in another form, on each line. */
const pairs = readFileSync(new URL("set/pairs.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split(" || "));

test.each(pairs)("%s", async (sentence = "", html = "") => {
  expect(await held(sentence, html)).toMatchObject({ verdict: "found", missing: [] });
});

/** What a page need not state in these words (contract §11). */
const LOOSE = /\bpp\b|percentage points|basis points|\d0s\b|ISBN/;

/** Each pair with the first digit of its largest number changed. */
const changed = pairs
  .filter(([sentence = ""]) => !LOOSE.test(sentence))
  .flatMap(([sentence = "", html = ""]) => {
    const numbers = sentence.match(/(?<![\d.,:(]|Section |§ )\d[\d.,']*\d/g) ?? [];
    const [largest] = numbers.sort((a, b) => b.length - a.length);
    const other = largest?.replace(/^\d/, (digit) => String(((Number(digit) + 4) % 9) + 1));
    return other ? [[sentence.replace(largest ?? "", other), html, other] as const] : [];
  });

test.each(changed)("not: %s", async (sentence, html, other) => {
  const judged = await held(sentence, html);
  expect(judged).toMatchObject({ verdict: "missing" });
  expect(judged.missing.join()).toContain(other);
});

test.each([
  [
    "data of its script",
    '<p>The fee is paid in dollars.</p><script type="application/json">{"fee":4711}</script>',
  ],
  ["what a choice offers", "<p>The fee is paid in dollars.</p><select><option>4711</select>"],
  [
    "what it tells in place of a picture",
    '<p>The fee is paid in dollars.</p><i aria-label="4711 dollars"></i>',
  ],
])("what a page has as %s may be what the sentence means", async (_name, html) => {
  expect(await held("The fee is 4711 dollars.", html)).toMatchObject({ verdict: "unchecked" });
});

/** News name the day of an event by its weekday, and the reader knows the day of the article. */
test.each([
  ["en", "The tram line to Kenton opened on 16 September 2024.", "on Monday", "unchecked"],
  ["en", "The tram line to Kenton opened on 15 September 2024.", "on Monday", "missing"],
  ["en", "The tram line to Kenton opened on 9 September 2024.", "on Monday", "missing"],
  ["de", "Die Bahn nach Kenton eröffnete am 16. September 2024.", "am Montag", "unchecked"],
  ["fr", "La ligne de tram de Kenton a ouvert le 16 septembre 2024.", "lundi", "unchecked"],
])("%s: %s from a page that says %s is %s", async (language, sentence, day, verdict) => {
  const lines: Readonly<Record<string, string>> = {
    en: `The first passengers rode the line to Kenton ${day}, and it was full for the whole of the day.`,
    de: `Die ersten Fahrgäste fuhren ${day} nach Kenton, und die Bahn war den ganzen Tag über voll.`,
    fr: `Les premiers voyageurs ont pris la ligne de Kenton ${day}, et elle était pleine toute la journée.`,
  };
  const html = `<meta property="article:published_time" content="2024-09-17T08:30:00+00:00"><p>${lines[language]}</p>`;
  expect(await held(sentence, html)).toMatchObject({ verdict });
});

test("the code of a script says nothing", async () => {
  const html = "<p>The fee is paid in dollars.</p><script>let fee = 4711</script>";
  expect(await held("The fee is 4711 dollars.", html)).toMatchObject({ verdict: "missing" });
});
