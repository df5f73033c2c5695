import { expect, test } from "vitest";
import { EventQueue } from "../../../src/client/watch/event-queue.js";
import type { WatchEvent } from "../../../src/client/watch/types.js";
import type { Clock } from "../../../src/clock.js";

const FIVE_MINUTES = 300_000;

function world() {
  const time = { ms: 1_000 };
  const clock = { now: () => 50_000 + time.ms, monotonic: () => time.ms } as Clock;
  return { time, queue: new EventQueue(clock) };
}

const state: WatchEvent = {
  ...{ kind: "state", requestId: "id", status: "PENDING", previous: null, final: false, data: {} },
  ...{ at: 0, elapsedMs: 0 },
};
const recovered: WatchEvent = { kind: "recovered", elapsedMs: 0 };

test("events come out once, in their order", () => {
  const { queue } = world();
  expect(queue.isEmpty).toBe(true);
  queue.add(state);
  queue.add(recovered);
  expect(queue.isEmpty).toBe(false);
  expect(queue.takeAll()).toEqual([state, recovered]);
  expect([queue.isEmpty, queue.takeAll()]).toEqual([true, []]);
});

test("a moment is the time of day and the time since the watch began", () => {
  const { queue, time } = world();
  time.ms += 250;
  expect(queue.moment()).toEqual({ at: 51_250, elapsedMs: 250 });
});

test("after five minutes without a change that is said, and again five minutes later", () => {
  const { queue, time } = world();
  time.ms += FIVE_MINUTES - 1;
  queue.addUnchanged();
  expect(queue.isEmpty).toBe(true);
  time.ms += 1;
  expect(queue.unchangedAt).toBe(time.ms);
  queue.addUnchanged();
  queue.addUnchanged();
  expect(queue.takeAll()).toEqual([{ kind: "unchanged", elapsedMs: FIVE_MINUTES }]);
  expect(queue.unchangedAt).toBe(time.ms + FIVE_MINUTES);
});

test("a state is a change, any other event is none", () => {
  const { queue, time } = world();
  const start = time.ms;
  time.ms += 1_000;
  queue.add(recovered);
  expect(queue.unchangedAt).toBe(start + FIVE_MINUTES);
  queue.add(state);
  expect(queue.unchangedAt).toBe(time.ms + FIVE_MINUTES);
});
