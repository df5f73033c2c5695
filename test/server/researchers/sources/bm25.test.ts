import { expect, it } from "vitest";
import { Bm25Index } from "../../../../src/server/researchers/sources/bm25.js";

const text = (text: string, heading = "", name = "") => ({ text, heading, name });
const any = () => 1;

function indexOf(...files: ReturnType<typeof text>[][]): Bm25Index {
  const index = new Bm25Index();
  index.replace(files.map((file) => index.segment(file)));
  return index;
}

const found = (
  index: Bm25Index,
  terms: Record<string, number>,
  factor: (s: number, p: number) => number = any,
) =>
  index
    .search(new Map(Object.entries(terms)), 10, factor)
    .map(({ segment, passage }) => `${segment}:${passage}`);

it("finds the passages that have the words, the better fitting ones first", () => {
  const index = indexOf([text("kiwi pear"), text("pear")], [text("kiwi kiwi plum"), text("cherry")]);
  expect(found(index, { kiwi: 1 })).toEqual(["1:0", "0:0"]);
  expect(found(index, { cherry: 1, pear: 1 })).toEqual(["1:1", "0:1", "0:0"]);
  expect(found(index, { nothing: 1 })).toEqual([]);
});

it("a word in a heading counts less than one in the text, one in the file's name least", () => {
  const index = indexOf([text("x", "", "kiwi"), text("x", "kiwi"), text("kiwi")]);
  expect(found(index, { kiwi: 1 })).toEqual(["0:2", "0:1", "0:0"]);
});

it("multiplies with the factor, and leaves out what has none", () => {
  const index = indexOf([text("kiwi"), text("kiwi pear plum")]);
  expect(found(index, { kiwi: 1 }, (_segment, passage) => passage)).toEqual(["0:1"]);
});

it("a rare word tells more than a common one, and one that is not there the most", () => {
  const index = indexOf([text("kiwi pear"), text("kiwi"), text("kiwi")]);
  expect(index.weight("pear")).toBeGreaterThan(index.weight("kiwi"));
  expect(index.weight("plum")).toBeGreaterThan(index.weight("pear"));
});

it("forgets what is replaced, and finds nothing in an empty index", () => {
  const index = indexOf([text("kiwi")]);
  index.replace([index.segment([text("pear")])]);
  expect(found(index, { kiwi: 1 })).toEqual([]);
  expect(found(index, { pear: 1 })).toEqual(["0:0"]);
  index.replace([]);
  expect(found(index, { pear: 1 })).toEqual([]);
});
