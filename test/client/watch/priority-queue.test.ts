import { expect, test } from "vitest";
import { PriorityQueue } from "../../../src/client/watch/priority-queue.js";

function all(queue: PriorityQueue<string>): string {
  let items = "";
  for (let item = queue.take(); item !== undefined; item = queue.take()) items += item;
  return items;
}

test("the earliest item comes first, equal ones in the order they were added", () => {
  const queue = new PriorityQueue<string>();
  expect([queue.size, queue.nextAt()]).toEqual([0, Number.POSITIVE_INFINITY]);
  for (const [at, item] of [
    [3, "d"],
    [1, "a"],
    [2, "b"],
    [2, "c"],
    [3, "e"],
    [3, "f"],
  ] as const)
    queue.add(at, item);
  expect([queue.size, queue.nextAt()]).toEqual([6, 1]);
  expect(queue.take()).toBe("a");
  expect([queue.size, queue.nextAt()]).toEqual([5, 2]);
  expect(all(queue)).toBe("bcdef");
  expect(queue.size).toBe(0);
});

test("all can be moved to one time, each not before its own, and keep their order", () => {
  const queue = new PriorityQueue<string>();
  for (const [at, item] of [
    [9, "c"],
    [1, "a"],
    [5, "b"],
  ] as const)
    queue.add(at, item);
  queue.moveAll(3, (item) => (item === "a" ? 4 : 0));
  expect([queue.size, queue.nextAt()]).toEqual([3, 3]);
  expect(all(queue)).toBe("bca");
});
