import { expect, test } from "vitest";
import { rowsOfShard, shardOf } from "../../../../src/client/workflows/batch/row.js";

const rows = Array.from({ length: 200 }, (_, i) => ({ id: `key:${i}` }));

test("each row is in exactly one shard", () => {
  const parts = [1, 2, 3].map((index) => rowsOfShard(rows, { index, count: 3 }));
  expect(parts.flat().length).toBe(rows.length);
  expect(new Set(parts.flat()).size).toBe(rows.length);
  for (const part of parts) expect(part.length).toBeGreaterThan(rows.length / 6);
});

test("a row stays in its shard when rows are added", () => {
  const before = rowsOfShard(rows.slice(0, 50), { index: 2, count: 4 });
  expect(rowsOfShard(rows, { index: 2, count: 4 })).toEqual(expect.arrayContaining(before));
});

test("shards are numbered from 1 to the count", () => {
  const numbers = new Set(rows.map(({ id }) => shardOf(id, 4)));
  expect([...numbers].sort()).toEqual([1, 2, 3, 4]);
  // A changed hash would move rows between the machines of a batch that is under way.
  expect(shardOf("key:0", 8)).toBe(shardOf("key:0", 8));
});
