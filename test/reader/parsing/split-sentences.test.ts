import { expect, it } from "vitest";
import { splitSentences } from "../../../src/reader/parsing/split-sentences.js";

const read = (text: string) => [...splitSentences(text)];

it("gives sentence after sentence, each with its place", () => {
  expect(read("One is here. Two? Three")).toEqual([
    { segment: "One is here. ", index: 0 },
    { segment: "Two? ", index: 13 },
    { segment: "Three", index: 18 },
  ]);
  expect(read("")).toEqual([]);
});

it.each(["?maximum ", "Words without an end ", "x", "\u{1f600}"])(
  "leaves nothing out of a long text of %j",
  (word) => {
    const text = word.repeat(30_000);
    const segments = read(text);
    expect(segments.map(({ segment }) => segment).join("")).toBe(text);
    expect(segments.every(({ segment, index }) => text.startsWith(segment, index))).toBe(true);
    if (word.startsWith("W")) expect(segments.every(({ segment }) => segment.endsWith(" "))).toBe(true);
  },
);

it.each([
  "Die Burg entstand im 15. Jahrhundert und steht seit dem 3. Oktober unter Schutz.",
  "Es gilt Abs. 2 und Art. 5 der Verordnung, vgl. Kap. 3.",
  "It was published in Jan. 2024 by Dr. Smith of Acme Inc. and others.",
  "About 5 items, e.g. pears, apples etc. (Smith et al. 2021) were sold.",
])("takes no abbreviation for the end of a sentence: %s", (text) => {
  expect(read(text).map(({ segment }) => segment)).toEqual([text]);
});

it("ends a sentence at a unit and at a number that counts nothing", () => {
  const text =
    "It takes 5 ms. Then it stops. La limite est de 90 km/h. Deux radars la surveillent. There were 15. Marie left.";
  expect(read(text).map(({ segment }) => segment.trim())).toEqual([
    "It takes 5 ms.",
    "Then it stops.",
    "La limite est de 90 km/h.",
    "Deux radars la surveillent.",
    "There were 15.",
    "Marie left.",
  ]);
});

it.each([
  ["It costs 10.80 euros. 25 % of the drivers are foreign.", 2],
  ["Le péage est de 10,80 euros. 25 % des conducteurs sont étrangers.", 2],
  ["They were many. $5 was the price.", 2],
  ["It was sold in Sept. 2021 at approx. 25 dollars, cf. Fig. 3 and Chap. 4 (Ref. 2).", 1],
])("begins a sentence with a number: %s", (text, count) => {
  expect(read(text)).toHaveLength(count);
});
