import { expect, test } from "vitest";
import { findQuotations, isStatement, QuotableText } from "../../../src/reader/matching/quotations.js";
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
  expect(isStatement({ text, start: 0, end: text.length })).toBe(isSaid);
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
