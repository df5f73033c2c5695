import { expect, test } from "vitest";
import {
  findIndexAtLeast,
  hashText,
  InvertedIndex,
  NO_PLACES,
  PostingsList,
} from "../../src/core/inverted-index.js";

function postingsOf(...added: [key: number, place: number][]): InvertedIndex {
  const postings = new InvertedIndex();
  for (const [key, place] of added) postings.add(key, place);
  return postings;
}
const placesIn = (places: PostingsList, most = 1_000) => {
  const all: number[] = [];
  places.find(most, (place) => {
    all.push(place);
    return false;
  });
  return all.sort((a, b) => a - b);
};

test("the places of a key, and of the keys between two", () => {
  const postings = postingsOf([5, 1], [2, 1], [5, 3], [9, 4]);
  expect(placesIn(postings.listBetween(5))).toEqual([1, 3]);
  expect(placesIn(postings.listBetween(2, 5))).toEqual([1, 1, 3]);
  expect(postings.listBetween(5, 9)).toMatchObject({ count: 3 });
  expect(postings.listBetween(3, 4)).toBe(NO_PLACES);
  expect(postings.listBetween(5).has(3)).toBe(true);
  expect(postings.listBetween(5).has(2)).toBe(false);
});

test("of more than 64 keys between two the first are looked at, and all count", () => {
  const postings = postingsOf(...Array.from({ length: 100 }, (_, i): [number, number] => [i, i]));
  const all = postings.listBetween(0, 99);
  expect(all.count).toBe(100);
  expect(placesIn(all)).toHaveLength(64);
});

test("places without others", () => {
  const postings = postingsOf([1, 1], [1, 2], [2, 2], [3, 1], [3, 2]);
  const left = postings.listBetween(1).excludePlaces(postings.listBetween(2));
  expect(placesIn(left)).toEqual([1]);
  expect(left.has(2)).toBe(false);
  expect(postings.listBetween(1).excludePlaces(postings.listBetween(3))).toBe(NO_PLACES);
  expect(postings.listBetween(1).excludePlaces(NO_PLACES)).toMatchObject({ count: 2 });
});

test("so many places are tried and no more", () => {
  const postings = postingsOf(...Array.from({ length: 10 }, (_, i): [number, number] => [1, i]));
  expect(placesIn(postings.listBetween(1), 3)).toEqual([0, 1, 2]);
  expect(postings.listBetween(1).find(3, (place) => place === 5)).toBeUndefined();
  expect(postings.listBetween(1).find(9, (place) => place === 5)).toBe(5);
});

test("places in several forms", () => {
  const joined = PostingsList.join([PostingsList.fromPlace(4), NO_PLACES, PostingsList.fromPlace(2)]);
  expect(joined.count).toBe(2);
  expect(joined.has(2) && joined.has(4)).toBe(true);
  expect(PostingsList.join([])).toBe(NO_PLACES);
});

test.each([
  [[], 3, 0],
  [[1, 3, 5], 0, 0],
  [[1, 3, 5], 3, 1],
  [[1, 3, 5], 4, 2],
  [[1, 3, 5], 6, 3],
])("in %j the first from %d is at %d", (numbers, least, index) => {
  expect(findIndexAtLeast(numbers, least)).toBe(index);
});

test("two texts have two hashes", () => {
  expect(hashText("limit")).not.toBe(hashText("limits"));
  expect(hashText("limit")).toBe(hashText("limit"));
});
