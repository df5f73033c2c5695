import { expect, it } from "vitest";
import { Bm25Index } from "../../../src/reader/searching/bm25-index.js";

function indexOf(documents: Record<string, string[]>): Bm25Index {
  const index = new Bm25Index();
  for (const [document, passages] of Object.entries(documents)) index.set(document, passages);
  return index;
}

const search = (index: Bm25Index, ...terms: string[]) =>
  index.search(terms, 9).map(({ document, passage }) => `${document}:${passage}`);

it("finds the passages that have the words, the better fitting ones first", () => {
  const index = indexOf({
    a: ["kiwi pear", "pear"],
    b: ["kiwi kiwi plum", "cherry"],
  });
  expect(search(index, "kiwi")).toEqual(["b:0", "a:0"]);
  expect(search(index, "cherry", "pear")).toEqual(["b:1", "a:1", "a:0"]);
  expect(search(index, "nothing")).toEqual([]);
});

it("scores as BM25 does", () => {
  const index = indexOf({ a: ["kiwi kiwi", "pear plum cherry"] });
  // ln(1 + 1.5 / 1.5) · 2 · 1.82 / (2 + 0.82 · (0.32 + 0.68 · 2 / 2.5))
  expect(index.search(["kiwi"], 9)[0]?.score).toBeCloseTo((Math.log(2) * 3.64) / (2 + 0.82 * 0.864), 6);
});

it("a rare word tells more than a common one, and one that is not there the most", () => {
  const index = indexOf({ a: ["kiwi pear", "kiwi", "kiwi"] });
  expect(index.computeWeight("pear")).toBeGreaterThan(index.computeWeight("kiwi"));
  expect(index.computeWeight("plum")).toBeGreaterThan(index.computeWeight("pear"));
});

it("what was deleted or replaced counts for nothing", () => {
  const [index, fresh] = [indexOf({ a: ["kiwi"], b: ["plum"] }), indexOf({ a: ["pear pear"] })];
  index.set("a", ["pear pear"]);
  expect(search(index, "kiwi")).toEqual([]);
  index.delete("b");
  index.delete("b");
  expect(index.search(["pear"], 9)).toEqual(fresh.search(["pear"], 9));
  expect(["pear", "plum"].map((term) => index.computeWeight(term))).toEqual(
    ["pear", "plum"].map((term) => fresh.computeWeight(term)),
  );
  index.delete("a");
  expect(search(index, "pear")).toEqual([]);
});

it("gives the best of many, the first of those that are equal, by what each is multiplied by", () => {
  const many = Array.from({ length: 30_000 }, (_, i) => (i % 10_000 === 9_999 ? "kiwi kiwi" : "kiwi"));
  const index = indexOf({ a: many });
  const best = (limit: number, rank?: (document: string, passage: number) => number) =>
    index.search(["kiwi"], limit, rank).map(({ passage }) => passage);
  expect(best(5)).toEqual([9_999, 19_999, 29_999, 0, 1]);
  expect(best(2, (_, passage) => (passage === 25_000 ? 3 : passage === 9_999 ? 2 : 1))).toEqual([
    25_000, 9_999,
  ]);
});
