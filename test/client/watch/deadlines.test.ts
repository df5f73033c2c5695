import { expect, test } from "vitest";
import { Pace } from "../../../src/client/session.js";
import { PollScheduler } from "../../../src/client/watch/poll-scheduler.js";
import { watched } from "./fixtures.js";

const withLimits = (options: { timeout?: number; queueTimeout?: number }) =>
  new PollScheduler(options, new Pace(0));
const NEVER = Number.POSITIVE_INFINITY;

test.each([
  [{}, NEVER, NEVER],
  [{ timeout: 0, queueTimeout: 0 }, NEVER, NEVER],
  [{ timeout: 100 }, 110, 110],
  [{ queueTimeout: 40 }, 50, NEVER],
  [{ timeout: 100, queueTimeout: 40 }, 50, 110],
  [{ timeout: 40, queueTimeout: 100 }, 50, 50],
])(
  "with %j an id in the queue has until %j, one that is processed until %j",
  (options, queued, processed) => {
    const deadlines = withLimits(options);
    expect(deadlines.deadlineOf(watched({ since: 10 }))).toBe(queued);
    expect(deadlines.deadlineOf(watched({ since: 10, isQueued: false }))).toBe(processed);
  },
);

test("which of the two was over", () => {
  const deadlines = withLimits({ timeout: 100, queueTimeout: 40 });
  expect(deadlines.limitReached(watched({ since: 10 }), 109)).toBe("queue");
  expect(deadlines.limitReached(watched({ since: 10 }), 110)).toBe("whole");
});
