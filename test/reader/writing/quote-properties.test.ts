import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findOccurrences, tokenizeText } from "../../../src/reader/matching/quotations.js";
import { findQuote } from "../../../src/reader/writing/quoted-facts.js";

// Real sentences: what this repository's own documents say.
const ROOT = join(import.meta.dirname, "../../..");
const FILES = ["README.md", "SECURITY.md", "LICENSE", "docs/interface.md", "src/README.md"];
const RUNS = 500;

const sources = FILES.flatMap((file) => readFileSync(join(ROOT, file), "utf8").split(/\n\s*\n/)).filter(
  (text) => !/^\s*(?:\||```|<)/.test(text),
);
const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
const sentences = sources.flatMap((text) =>
  text
    .split(/\n(?=\s*(?:[-*+]|\d+\.)\s)/)
    .flatMap((item) => [...segmenter.segment(item.replace(/\n/g, " "))])
    .map(({ segment }) => ({ text, sentence: segment.trim() }))
    .filter(({ sentence }) => sentence.split(/\s+/).length >= 6),
);
const vocabulary = [...new Set(sentences.flatMap(({ sentence }) => sentence.match(/\p{L}{3,}/gu) ?? []))];

const anySentence = fc.constantFrom(...sentences);
const anyWord = fc.constantFrom(...vocabulary);
const placeOf = (text: string, quote: string) => findQuote(text, quote, "prose");
const shown = (text: string, quote: string) => {
  const place = placeOf(text, quote);
  return place && text.slice(place.start, place.end);
};
/** Whether an altered quote says word for word what another part of the source says anyway. */
const isCopy = (text: string, quote: string) => {
  const words = (part: string) =>
    ` ${
      part
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu)
        ?.join(" ") ?? ""
    } `;
  return words(text).includes(words(quote));
};

/** The share of `RUNS` alterations that are accepted. */
function accepted<T>(alterations: fc.Arbitrary<T>, isAccepted: (alteration: T) => boolean): number {
  const drawn = fc.sample(alterations, { numRuns: RUNS, seed: 14 });
  return drawn.filter(isAccepted).length / drawn.length;
}

it("has enough real sentences to speak of", () => {
  expect(sentences.length).toBeGreaterThan(100);
});

describe("a copy is accepted:", () => {
  it.each<[string, (sentence: string) => string]>([
    ["as it is", (sentence) => sentence],
    ["with other white space", (sentence) => sentence.replace(/\s+/g, "\n   ")],
    ["without emphasis and code marks", (sentence) => sentence.replace(/[*`]/g, "")],
    [
      "with typographic quotation marks",
      (sentence) => sentence.replace(/"([^"]*)"/g, "“$1”").replace(/'/g, "’"),
    ],
    ["without its full stop", (sentence) => sentence.replace(/[.:]$/, "")],
    ["in capitals", (sentence) => sentence.toUpperCase()],
  ])("%s", (_name, copy) => {
    const matches = sentences.filter(({ text, sentence }) => placeOf(text, copy(sentence)) !== undefined);
    expect(matches.length / sentences.length).toBeGreaterThan(0.97);
  });

  it("a part of one, shown with the whole of it", () => {
    const part = fc.tuple(anySentence, fc.nat(), fc.integer({ min: 4, max: 12 }));
    const share = accepted(part, ([{ text, sentence }, at, length]) => {
      const words = sentence.split(/\s+/);
      const start = at % Math.max(1, words.length - length);
      const quote = words.slice(start, start + length).join(" ");
      const whole = shown(text, quote);
      return whole !== undefined && tokenizeText(whole).length >= tokenizeText(quote).length;
    });
    expect(share).toBeGreaterThan(0.97);
  });
});

describe("an altered sentence is refused:", () => {
  const MOST = 1 / 500;

  it("a word replaced", () => {
    const replaced = fc.tuple(anySentence, fc.nat(), anyWord);
    const share = accepted(replaced, ([{ text, sentence }, at, word]) => {
      const words = sentence.match(/\p{L}{3,}/gu) ?? [];
      const old = words[at % Math.max(1, words.length)];
      if (old === undefined || old.toLowerCase() === word.toLowerCase()) return false;
      const altered = sentence.replace(new RegExp(`(?<!\\p{L})${old}(?!\\p{L})`, "u"), word);
      return altered !== sentence && !isCopy(text, altered) && placeOf(text, altered) !== undefined;
    });
    expect(share).toBeLessThanOrEqual(MOST);
  });

  it("a `not` put in", () => {
    const share = accepted(fc.tuple(anySentence, fc.nat()), ([{ text, sentence }, at]) => {
      const words = sentence.split(/\s+/);
      words.splice(1 + (at % (words.length - 1)), 0, "not");
      const altered = words.join(" ");
      return !isCopy(text, altered) && placeOf(text, altered) !== undefined;
    });
    expect(share).toBeLessThanOrEqual(MOST);
  });

  it("a number changed", () => {
    const numbered = sentences.filter(({ sentence }) => /\d/.test(sentence));
    expect(numbered.length).toBeGreaterThan(20);
    const changed = fc.tuple(fc.constantFrom(...numbered), fc.nat(), fc.integer({ min: 1, max: 9 }));
    const share = accepted(changed, ([{ text, sentence }, at, by]) => {
      const places = [...sentence.matchAll(/\d/g)].map(({ index }) => index);
      const place = places[at % places.length] ?? 0;
      const digit = (Number(sentence[place]) + by) % 10;
      const altered = sentence.slice(0, place) + digit + sentence.slice(place + 1);
      return !isCopy(text, altered) && placeOf(text, altered) !== undefined;
    });
    expect(share).toBeLessThanOrEqual(MOST);
  });

  it("two sentences spliced", () => {
    const spliced = fc.tuple(anySentence, anySentence, fc.nat(), fc.nat());
    const share = accepted(spliced, ([first, second, from, to]) => {
      const head = first.sentence.split(/\s+/);
      const tail = second.sentence.split(/\s+/);
      const altered = [
        ...head.slice(0, 2 + (from % (head.length - 2))),
        ...tail.slice(1 + (to % (tail.length - 2))),
      ].join(" ");
      const text = `${first.text}\n\n${second.text}`;
      return !isCopy(text, altered) && placeOf(text, altered) !== undefined;
    });
    expect(share).toBeLessThanOrEqual(MOST);
  });

  it("a `not` taken out; and never shown without it", () => {
    const negation = /\b(?:not|never|no|cannot|nothing|none|without|nor)\b/gi;
    const negated = sentences.filter(({ sentence }) => sentence.search(negation) >= 0);
    expect(negated.length).toBeGreaterThan(30);
    const without = new Set<string>();
    const share = accepted(fc.tuple(fc.constantFrom(...negated), fc.nat()), ([{ text, sentence }, at]) => {
      const places = [...sentence.matchAll(negation)];
      const place = places[at % places.length];
      if (place === undefined) return false;
      const before = sentence.slice(0, place.index);
      const after = sentence.slice(place.index + place[0].length);
      const altered = `${before}${after}`;
      // What stands before or after it is a true copy, and is shown with the negation.
      for (const part of [before, after]) {
        if (
          tokenizeText(part).length < 3 ||
          findOccurrences(tokenizeText(text), tokenizeText(part)).length > 1
        )
          continue;
        const whole = shown(text, part);
        if (whole !== undefined && whole.search(negation) < 0) without.add(`${part} => ${whole}`);
      }
      const isEdge = tokenizeText(before).length === 0 || tokenizeText(after).length === 0;
      return !isEdge && !isCopy(text, altered) && placeOf(text, altered) !== undefined;
    });
    expect(share).toBeLessThanOrEqual(MOST);
    expect([...without]).toEqual([]);
  });
});
