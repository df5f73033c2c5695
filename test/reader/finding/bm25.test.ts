import { expect, it } from "vitest";
import { Bm25Index } from "../../../src/reader/finding/bm25.js";

function indexOf(documents: Record<string, string[]>): Bm25Index {
  const index = new Bm25Index();
  for (const [document, passages] of Object.entries(documents)) index.set(document, passages);
  return index;
}

const scored = (index: Bm25Index, terms: Record<string, number>) =>
  index.search(new Map(Object.entries(terms)), 9);
const found = (index: Bm25Index, terms: Record<string, number>) =>
  scored(index, terms).map(({ document, passage }) => `${document}:${passage}`);

it("finds the passages that have the words, the better fitting ones first", () => {
  const index = indexOf({
    a: ["kiwi pear", "pear"],
    b: ["kiwi kiwi plum", "cherry"],
  });
  expect(found(index, { kiwi: 1 })).toEqual(["b:0", "a:0"]);
  expect(found(index, { cherry: 1, pear: 1 })).toEqual(["b:1", "a:1", "a:0"]);
  expect(found(index, { nothing: 1 })).toEqual([]);
});

it("a term that counts half gives half the score", () => {
  const index = indexOf({ a: ["kiwi"], b: ["pear"] });
  const [whole, half] = [scored(index, { kiwi: 1 }), scored(index, { kiwi: 0.5 })];
  expect(half[0]?.score).toBeCloseTo((whole[0]?.score ?? 0) / 2);
});

it("scores as BM25 does", () => {
  const index = indexOf({ a: ["kiwi kiwi", "pear plum cherry"] });
  // ln(1 + 1.5 / 1.5) · 2 · 1.82 / (2 + 0.82 · (0.32 + 0.68 · 2 / 2.5))
  expect(scored(index, { kiwi: 1 })[0]?.score).toBeCloseTo((Math.log(2) * 3.64) / (2 + 0.82 * 0.864), 6);
});

it("a rare word tells more than a common one, and one that is not there the most", () => {
  const index = indexOf({ a: ["kiwi pear", "kiwi", "kiwi"] });
  expect(index.weight("pear")).toBeGreaterThan(index.weight("kiwi"));
  expect(index.weight("plum")).toBeGreaterThan(index.weight("pear"));
});

it("what was deleted or replaced counts for nothing", () => {
  const [index, fresh] = [indexOf({ a: ["kiwi"], b: ["plum"] }), indexOf({ a: ["pear pear"] })];
  index.set("a", ["pear pear"]);
  expect(found(index, { kiwi: 1 })).toEqual([]);
  index.delete("b");
  index.delete("b");
  expect(scored(index, { pear: 1 })).toEqual(scored(fresh, { pear: 1 }));
  expect(["pear", "plum"].map((term) => index.weight(term))).toEqual(
    ["pear", "plum"].map((term) => fresh.weight(term)),
  );
  index.delete("a");
  expect(found(index, { pear: 1 })).toEqual([]);
});

it("gives the best of many, the first of those that are equal, by what each is multiplied by", () => {
  const many = Array.from({ length: 30_000 }, (_, i) => (i % 10_000 === 9_999 ? "kiwi kiwi" : "kiwi"));
  const index = indexOf({ a: many });
  const best = (limit: number, rank?: (document: string, passage: number) => number) =>
    index.search(new Map([["kiwi", 1]]), limit, rank).map(({ passage }) => passage);
  expect(best(5)).toEqual([9_999, 19_999, 29_999, 0, 1]);
  expect(best(2, (_, passage) => (passage === 25_000 ? 3 : passage === 9_999 ? 2 : 1))).toEqual([
    25_000, 9_999,
  ]);
});
