import { expect, test } from "vitest";
import {
  blankOutMarkup,
  containsTokens,
  findOccurrences,
  findQuotations,
  isLongQuotation,
  QuotableText,
  tokenizeText,
} from "../../../src/reader/matching/quotations.js";
import { isLinear } from "../../support/growth.js";

test.each([
  ['She said "it is a long night" here', "it is a long night"],
  ["She said “it is a long night” here", "it is a long night"],
  ["Sie sagte „es ist Nacht“ dazu", "es ist Nacht"],
  ["Elle dit « il fait nuit » ici", " il fait nuit "],
  ["她说「这是夜晚」", "这是夜晚"],
  ["She said ‘it’s a long night’ here", "it’s a long night"],
  ['the 27" and 32" models of the \'90s', undefined],
])("%s", (text, quotation) => {
  expect(findQuotations(text)[0]?.text).toBe(quotation);
});

test.each([
  ["it is a long night", true],
  ["short night", false],
  ["%u %r %f", false],
])("%s is said by somebody: %s", (text, isSaid) => {
  expect(isLongQuotation({ text, start: 0, end: text.length })).toBe(isSaid);
});

const PASSAGES = [
  "It was a beauti-\nful long night.",
  "The wall had stood[7] for a thousand years, before^8 it fell. It was rebuilt in a year.",
  "We will <b>not</b> go there again, the <a href='#x'>council</a> said.",
];
const text = new QuotableText();
for (const passage of PASSAGES) text.add({ text: passage });

test.each<[quotation: string, place: number | undefined]>([
  ["a beautiful long night", 0],
  ["A BEAUTIFUL, long night", 0],
  ["a very short night", undefined],
  ["stood for a thousand years before it fell", 1],
  ["the wall […] before it fell", 1],
  ["[T]he wall had stood … rebuilt in a year", 1],
  // The parts stand there in another order.
  ["rebuilt in a year […] the wall had stood", undefined],
  ["stood for a thousand years […] rebuilt in a year … before it fell", undefined],
  ["stood for a thousand years […] before it fell … rebuilt in a year", 1],
  ["before it fell […] the wall … It was rebuilt in a year", undefined],
  ["the wall […] before it fell … It was rebuilt in a year", 1],
  ["we will not go there again", 2],
  ["we will go there again", undefined],
  ["there again, the council said", 2],
])("%s: passage %s", (quotation, place) => {
  expect(text.findPassage(quotation)).toBe(place);
});

test.each([
  ["one beginning", (n: number) => ["the same words again ".repeat(n / 20)]],
  ["passages that are alike", (n: number) => Array.from({ length: n / 20 }, () => "the same words again")],
])("a page of %s takes time in proportion to its length", (_name, passagesOf) => {
  const work = (length: number) => {
    const long = new QuotableText();
    for (const passage of passagesOf(length)) long.add({ text: passage });
    return long.findPassage("the same words again the same words ahead");
  };
  expect(isLinear(work, 20_000)).toBe(true);
});

test.each<[string, string, string[]]>([
  ["marks of block quotes are left out", "> one\n  > two", ["one", "two"]],
  ["a comparison is not", "a > b", ["a", ">", "b"]],
  ["what is not seen goes", "so\u00adft zero\u200bwidth", ["soft", "zerowidth"]],
  ["every apostrophe is one", "don’t donʼt don't", ["don't", "don't", "don't"]],
  ["every minus is one, and a range has none", "−5 -5 1-9", ["-5", "-5", "1", "9"]],
  ["emphasis goes", "__init__ _a_ a_b ___", ["init", "a", "a_b"]],
  ["what negates or counts stays", "x != !y, $5 50% €", ["x", "!", "=", "!", "y", "$", "5", "50", "%"]],
  ["numbers keep their separators", "1,600 1.5 10:30 .5 v2", ["1,600", "1.5", "10:30", ".5", "v2"]],
])("%s", (_name, text, expected) => {
  expect(tokenizeText(text).map((token) => token.text)).toEqual(expected);
});

test("a token has its place", () => {
  expect(tokenizeText("a «bc».")[1]).toEqual({ text: "bc", start: 3, end: 5 });
});

test("markup is blanked, and all else stays where it was", () => {
  expect(blankOutMarkup('[it](x "t") <b>is</b> a < b')).toBe(`[it${" ".repeat(12)}is${" ".repeat(5)}a < b`);
  expect(blankOutMarkup("[it][1] is")).toBe("[it     is");
});

test("a part is found wherever it stands without a gap", () => {
  const find = (whole: string, part: string) => findOccurrences(tokenizeText(whole), tokenizeText(part));
  expect(find("a b a b", "A B")).toEqual([0, 2]);
  expect(find("a b", "a b a")).toEqual([]);
  expect(find("a b", "…")).toEqual([]);
  expect(containsTokens("a b c", "a c")).toBe(false);
  expect(containsTokens("a b c", "b, c")).toBe(true);
});
