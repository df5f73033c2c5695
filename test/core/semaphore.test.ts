import { expect, test } from "vitest";
import { Semaphore } from "../../src/core/semaphore.js";

const { signal } = new AbortController();
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("no more than its places are taken, and who waits first is served first", async () => {
  const semaphore = new Semaphore(2);
  const served: number[] = [];
  const take = (n: number) =>
    semaphore.acquire(signal).then((giveBack) => {
      served.push(n);
      return giveBack;
    });
  const [first, second, third, fourth] = [take(1), take(2), take(3), take(4)];
  await settled();
  expect(served).toEqual([1, 2]);
  (await second)();
  await third;
  await settled();
  expect(served).toEqual([1, 2, 3]);
  (await first)();
  await fourth;
  expect(served).toEqual([1, 2, 3, 4]);
});

test("a place is given back once", async () => {
  const semaphore = new Semaphore(1);
  const giveBack = await semaphore.acquire(signal);
  giveBack();
  giveBack();
  await semaphore.acquire(signal);
  let isServed = false;
  void semaphore.acquire(signal).then(() => {
    isServed = true;
  });
  await settled();
  expect(isServed).toBe(false);
});

test("an abort ends the wait, and takes no place", async () => {
  const semaphore = new Semaphore(1);
  const giveBack = await semaphore.acquire(signal);
  const control = new AbortController();
  const waiting = semaphore.acquire(control.signal);
  const next = semaphore.acquire(signal);
  control.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(semaphore.acquire(control.signal)).rejects.toThrow("enough");
  giveBack();
  expect(await next).toBeTypeOf("function");
});
