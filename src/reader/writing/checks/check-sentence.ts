import { detectLanguage, getVocabulary } from "../../languages/vocabulary.js";
import { FigureIndex } from "../../matching/figure-index.js";
import { findFigures, type Quantity } from "../../matching/numbers.js";
import { containsTokens, findQuotations, tokenizeText } from "../../matching/quotations.js";
import { ORDER } from "../../matching/units.js";
import type { Cited } from "../prompts.js";
import { type Fact, joinQuotedText } from "../quoted-facts.js";
import { hasCode, listCode } from "./quoted-code.js";

/** The longest text that counts as a sentence, in characters. */
const LONGEST = 1_200;
/** Matches marks of citation, `[1, 2]`. A match begins at the first of several blanks; otherwise a long gap is scanned again from each. */
const MARKS = /(?<!\s)\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]/g;
export const ADDRESS = /(?<![a-z\d+.-])[a-z][a-z\d+.-]{0,20}:\/\/[^\s<>"'`)\]]+|\bwww\.[^\s<>"'`)\]]+/gi;
/** Match targets of links and images, and HTML tags: what a page would load or follow. */
const TARGET = /\]\(\s*<?([^)>\s]+)/g;
const TAG = /<\/?[a-z][^<>]*>/gi;
/** Matches the number of a step, which is not a number of the text. */
const STEP = /^(\d{1,3})[.)]\s+/;

/** Returns the number of a step; undefined if the text does not begin with one. */
export function readStepNumber(text: string): number | undefined {
  const number = STEP.exec(text.trim())?.[1];
  return number === undefined ? undefined : Number(number);
}

/**
 * Checks a sentence. Returns it on one line without marks of citations and lists, or why it must not be shown. It must
 * cite a fact, and every number, address, HTML tag, piece of code and quotation in it must occur in a cited quote, in the
 * headings above that quote, or in the question.
 */
export function checkSentence(
  cited: Cited,
  facts: readonly Fact[],
  question: string,
): Cited | { wrong: string } {
  const inline = [...cited.text.matchAll(MARKS)].flatMap(([, list = ""]) => list.split(/[,;]/).map(Number));
  const cites = [...new Set([...cited.facts, ...inline])].filter((id) => facts[id - 1] !== undefined);
  const plain = cited.text
    .replace(MARKS, "")
    .replace(/\s+/g, " ")
    .replace(/^(?:[#>|\s]|[-*+]\s)+/, "")
    .trim()
    .replace(STEP, "");
  if (cites.length === 0) return { wrong: "it names no fact" };
  if (!/\p{L}/u.test(plain)) return { wrong: "it says nothing" };
  if (plain.length > LONGEST) return { wrong: "it is too long for a sentence" };
  const grounds = [question, ...cites.flatMap((id) => facts[id - 1] ?? []).map(joinQuotedText)];
  const code = listCode(cited.text).find((part) => !grounds.some((ground) => hasCode(ground, part)));
  const wrong =
    code === undefined
      ? findUngroundedItem(plain, grounds)
      : describeAbsentItem(`the code ${JSON.stringify(code)}`);
  return wrong === undefined ? { ...cited, text: plain, facts: cites } : { wrong };
}

/** Finds a number, address, tag or quotation that none of `grounds` contains. Returns a phrase; undefined if there is none. */
export function findUngroundedItem(text: string, grounds: readonly string[]): string | undefined {
  const vocabulary = getVocabulary(detectLanguage(text), detectLanguage(grounds.join("\n")));
  const stated = new FigureIndex(vocabulary, "decimals");
  for (const [place, ground] of grounds.entries()) stated.add({ text: ground }, place);
  const number = findFigures(text, vocabulary).find(
    (figure) =>
      !(figure.kind === "number" && isNumberWordWithoutFigure(figure)) &&
      stated.findPlaces(figure).count === 0,
  );
  if (number !== undefined)
    return describeAbsentItem(`the ${number.kind === "date" ? "date" : "number"} ${number.text}`);
  const addresses = [
    ...[...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?]+$/, "")),
    ...[...text.matchAll(TARGET)].map(([, target = ""]) => target),
    ...[...text.matchAll(TAG)].map(([tag]) => tag),
  ];
  const address = addresses.find((candidate) => !grounds.some((ground) => ground.includes(candidate)));
  if (address !== undefined) return describeAbsentItem(address);
  const words = findQuotations(text).find(
    (candidate) =>
      tokenizeText(candidate.text).length > 0 &&
      !grounds.some((ground) => containsTokens(ground, candidate.text)),
  );
  return words && describeAbsentItem(`the quotation ${JSON.stringify(words.text)}`);
}

function describeAbsentItem(what: string): string {
  return `${what} is in none of its facts`;
}

/** Returns whether a number word is not a figure: "one" and "null" (German for zero) without a unit, or an ordinal such as "first". */
function isNumberWordWithoutFigure({ isWord, unit, readings }: Quantity): boolean {
  return isWord && (unit === ORDER || (unit === undefined && readings.every(({ value }) => value <= 1)));
}
