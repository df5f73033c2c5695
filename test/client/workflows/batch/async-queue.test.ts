import { expect, test } from "vitest";
import { AsyncQueue } from "../../../../src/client/workflows/batch/async-queue.js";

async function take<T>(queue: AsyncQueue<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of queue) taken.push(item);
  return taken;
}

test("items that came before a consumer wait for it, in order", async () => {
  const queue = new AsyncQueue<number | undefined>();
  for (const item of [1, undefined, 2]) queue.push(item);
  queue.close();
  expect(await take(queue)).toEqual([1, undefined, 2]);
});

test("a consumer waits for items and for the end", async () => {
  const queue = new AsyncQueue<string>();
  const taken = take(queue);
  await Promise.resolve();
  queue.push("a");
  await Promise.resolve();
  queue.push("b");
  queue.close();
  expect(await taken).toEqual(["a", "b"]);
});

test("each item goes to one of several consumers, and all of them end", async () => {
  const queue = new AsyncQueue<number>();
  const consumers = [take(queue), take(queue), take(queue)];
  for (let item = 0; item < 30; item++) {
    queue.push(item);
    await Promise.resolve();
  }
  queue.close();
  const taken = (await Promise.all(consumers)).flat();
  expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, item) => item));
});
