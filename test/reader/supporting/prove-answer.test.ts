import { expect, test } from "vitest";
import { PageContent } from "../../../src/reader/checking/indexed-page.js";
import { analyseClaim } from "../../../src/reader/checking/judge-sentence.js";
import { PageExcerpt } from "../../../src/reader/supporting/page-excerpt.js";
import { proveAnswer } from "../../../src/reader/supporting/prove-answer.js";

const prove = (claim: string, text: string, verdict: "supported" | "contradicted", mayCompute = false) => {
  const { pieces } = new PageExcerpt(new PageContent([{ text, over: "" }]));
  return proveAnswer(
    analyseClaim(claim, "en", ""),
    { sentence: 1, verdict, quote: text },
    pieces,
    mayCompute,
  );
};

test.each<[string, string, boolean, boolean]>([
  // A sentence, the quoted passage, whether figures may be computed, and whether the quote proves it.
  ["Sales rose to 120 units.", "Sales rose from 100 to 120 units.", false, true],
  ["Sales rose by 20 units.", "Sales rose from 100 to 120 units.", false, false],
  ["Sales rose by 20 units.", "Sales rose from 100 to 120 units.", true, true],
  ["Sales rose by 20 %.", "Sales rose from 100 to 120 units.", true, true],
  ["Together they sold 220 units.", "Sales were 100 units in May and 120 units in June.", true, true],
  ["Sales rose by 25 units.", "Sales rose from 100 to 120 units.", true, false],
  // A quotient by zero is no number.
  ["Sales were 7 units.", "Sales were 0 units in May and 5 units in June.", true, false],
  ['The mayor said "we never closed the bridge".', "The bridge was open, said the mayor.", false, false],
])("supported: %s / %s (computed: %s)", (claim, text, mayCompute, isProven) => {
  expect(prove(claim, text, "supported", mayCompute) !== undefined).toBe(isProven);
});

test.each([
  ["Sales rose in May.", "In May sales fell to 90 units.", true],
  ["Sales rose in May.", "It rained on Tuesday.", false],
])("contradicted: %s / %s", (claim, text, isProven) => {
  expect(prove(claim, text, "contradicted") !== undefined).toBe(isProven);
});
