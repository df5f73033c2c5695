import { expect, test } from "vitest";
import { newlyWatched, TargetQueue } from "../../../src/client/watch/target-queue.js";
import type { WatchSource, WatchTarget } from "../../../src/client/watch/types.js";
import { until } from "../../support/service.js";

function reading(source: WatchSource) {
  const queue = new TargetQueue();
  const seen: (WatchTarget | "change")[] = [];
  queue.read(
    source,
    (target) => seen.push(target),
    () => seen.push("change"),
  );
  return { queue, seen };
}

test.each([
  ["one id", "some-id", [{ requestId: "some-id" }]],
  [
    "several",
    ["a", { requestId: "b", createdAt: 7 }],
    [{ requestId: "a" }, { requestId: "b", createdAt: 7 }],
  ],
  ["none", [], []],
])("%s at once: no more may come", (_what, source, expected) => {
  const { queue, seen } = reading(source);
  expect(seen).toEqual(expected);
  expect(queue.isOpen).toBe(false);
});

test("a source that goes on is open until it ends, and each id is a change", async () => {
  let end: (() => void) | undefined;
  const { queue, seen } = reading(
    (async function* () {
      yield "a";
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      yield { requestId: "b" };
    })(),
  );
  expect(queue.isOpen).toBe(true);
  await until(async () => end);
  expect(seen).toEqual([{ requestId: "a" }, "change"]);
  end?.();
  await until(async () => (queue.isOpen ? undefined : true));
  expect(seen).toEqual([{ requestId: "a" }, "change", { requestId: "b" }, "change", "change"]);
});

test("what a source throws, the queue throws", async () => {
  const error = new Error("no more");
  const { queue, seen } = reading(
    (async function* () {
      yield "a";
      throw error;
    })(),
  );
  await until(async () => (seen.length === 3 ? true : undefined));
  expect(() => queue.isOpen).toThrow(error);
});

test("an id that is new has seen nothing", () => {
  expect(newlyWatched({ requestId: "a", createdAt: 3 }, 50)).toEqual({
    ...{ requestId: "a", createdAt: 3, status: null, isQueued: true, polls: 0, failures: 0 },
    ...{ since: 50, quietSince: 50, notBefore: 0, startedAt: Number.NEGATIVE_INFINITY, hadLastPoll: false },
  });
});
