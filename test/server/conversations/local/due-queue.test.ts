import { expect, test } from "vitest";
import { DueQueue } from "../../../../src/server/conversations/local/due-queue.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const { signal } = new AbortController();

function world() {
  const clock = new VirtualClock();
  const start = clock.monotonic();
  return { clock, queue: new DueQueue(clock), passed: () => clock.monotonic() - start };
}

test("names come out in the order in which they are due, and not before", async () => {
  const { clock, queue, passed } = world();
  queue.add("k", "a", 1_000);
  await clock.sleep(400);
  queue.add("k", "b", 1_000);
  expect([await queue.take(signal), passed()]).toEqual(["a", 1_000]);
  expect([await queue.take(signal), passed()]).toEqual(["b", 1_400]);
});

test("what is put first comes before all others, at once", async () => {
  const { queue, passed } = world();
  queue.add("k", "a", 1_000);
  queue.addFirst("k", "b");
  expect([await queue.take(signal), passed()]).toEqual(["b", 0]);
});

test("what is deleted does not come out, wherever it stands", async () => {
  const { queue } = world();
  queue.add("k", "a", 0);
  queue.addFirst("k", "b");
  queue.add("k", "c", 0);
  queue.delete("k", "a");
  queue.delete("k", "b");
  expect(await queue.take(signal)).toBe("c");
});

test("all of them are counted, and of those that were put first only one is deleted", async () => {
  const { queue } = world();
  queue.add("k", "a", 1_000);
  queue.addFirst("k", "b");
  queue.addFirst("k", "c");
  expect(queue.size).toBe(3);
  queue.delete("k", "b");
  expect(queue.size).toBe(2);
  expect(await queue.take(signal)).toBe("c");
  expect(queue.size).toBe(1);
});

test("a caller waits for a name that comes later, or for its signal", async () => {
  const { queue } = world();
  const taken = queue.take(signal);
  queue.add("k", "a", 0);
  expect(await taken).toBe("a");
  const control = new AbortController();
  const waiting = queue.take(control.signal);
  control.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(queue.take(control.signal)).rejects.toThrow("enough");
});

test("how long the first has been due", async () => {
  const { clock, queue } = world();
  expect(queue.measureOverdue()).toBe(0);
  queue.add("k", "a", 100);
  expect(queue.measureOverdue()).toBe(0);
  await clock.sleep(150);
  expect(queue.measureOverdue()).toBe(50);
});
