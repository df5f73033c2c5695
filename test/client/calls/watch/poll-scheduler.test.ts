import { describe, expect, test } from "vitest";
import { seeded } from "../../../../bench/support/runs.js";
import { RequestPacer } from "../../../../src/client/calls/request-pacer.js";
import { computeAdaptiveInterval } from "../../../../src/client/calls/watch/poll-interval.js";
import { PollScheduler } from "../../../../src/client/calls/watch/poll-scheduler.js";
import type { WatchedRequest } from "../../../../src/client/calls/watch/watched-request.js";
import { watched } from "./fixtures.js";

const scheduler = (timeout = 0, isRateLimited = true) =>
  new PollScheduler({ timeout }, new RequestPacer(isRateLimited ? 20 : 0));

test("nothing is due where nothing is planned", () => {
  expect(scheduler().popDue(1e9)).toBeUndefined();
  expect(scheduler().findNextStart()).toBe(Number.POSITIVE_INFINITY);
});

test("an id is due after its wait, and not before", () => {
  const polls = scheduler();
  const id = watched();
  expect(polls.schedule(id, 1_000, 500)).toBe(true);
  expect(polls.findNextStart()).toBe(1_500);
  expect(polls.popDue(1_499)).toBeUndefined();
  expect(polls.popDue(1_500)).toBe(id);
  expect(polls.popDue(1_500)).toBeUndefined();
});

test("ids that are due at the same time keep their order, after a suspend too", () => {
  const polls = scheduler(0, false);
  const due = (now: number) => Array.from("abcd", () => polls.popDue(now)?.requestId ?? "").join("");
  const plan = () => {
    for (const [wait, requestId] of [
      [3, "c"],
      [1, "a"],
      [2, "b"],
      [3, "d"],
    ] as const)
      polls.schedule(watched({ requestId }), 0, wait);
  };
  plan();
  expect(due(3)).toBe("abcd");
  plan();
  polls.rescheduleAll(1);
  expect(due(1)).toBe("abcd");
});

test.each([
  [true, 120],
  [false, 100],
])(
  "two polls start 20 ms apart if the rate is limited (%j): the second one at %d",
  (isRateLimited, second) => {
    const polls = scheduler(0, isRateLimited);
    for (const id of [watched(), watched()]) polls.schedule(id, 0, 50);
    polls.popDue(100);
    polls.noteStart(100);
    expect(polls.findNextStart()).toBe(second);
    expect(polls.popDue(second - 1)).toBeUndefined();
    expect(polls.popDue(second)).toBeDefined();
  },
);

test("a thousand old requests: each poll in time, and never more than 50 in a second", () => {
  const polls = scheduler();
  const random = seeded(7);
  const due = new Map<WatchedRequest, number>();
  const schedule = (id: WatchedRequest, now: number, wait: number) => {
    due.set(id, now + wait);
    polls.schedule(id, now, wait);
  };
  for (let n = 0; n < 1_000; n++) schedule(watched(), 0, random() * 30_000);
  const starts: number[] = [];
  for (let now = 0; now < 300_000; now = polls.findNextStart())
    for (let id = polls.popDue(now); id; id = polls.popDue(now)) {
      polls.noteStart(now);
      polls.noteEnd(now);
      starts.push(now);
      const at = due.get(id) ?? 0;
      expect(now).toBeGreaterThanOrEqual(at);
      expect(now).toBeLessThan(at + 1_000);
      schedule(id, now, computeAdaptiveInterval(3_600_000, random()));
    }
  expect(starts.length).toBeGreaterThan(9_000);
  for (const [n, at] of starts.entries())
    expect(at - (starts[n - 50] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(1_000);
});

test("sixteen polls run at once; the next one starts when one has ended, or has taken two seconds", () => {
  const polls = scheduler(0, false);
  polls.schedule(watched(), 0, 0);
  for (let i = 0; i < 15; i++) polls.noteStart(0);
  expect(polls.findNextStart()).toBe(0);
  polls.noteStart(0);
  expect(polls.findNextStart()).toBe(2_000);
  expect(polls.popDue(10)).toBeUndefined();
  polls.noteEnd(0);
  expect(polls.findNextStart()).toBe(0);
  polls.noteStart(10);
  expect(polls.popDue(1_999)).toBeUndefined();
  expect(polls.popDue(2_000)).toBeDefined();
});

describe("before a deadline", () => {
  test("one id has its last poll at it", () => {
    const polls = scheduler(1_000);
    const id = watched({ startedAt: 600 });
    polls.schedule(id, 600, 5_000);
    expect(polls.findNextStart()).toBe(1_000);
    expect(id.hadLastPoll).toBe(false);
  });

  test("several have theirs one after the other, the first of them planned last in time", () => {
    const polls = scheduler(1_000);
    const ids = [watched(), watched(), watched()];
    for (const id of ids) polls.schedule(id, 100, 5_000);
    const starts = ids.map(() => {
      const at = polls.findNextStart();
      polls.popDue(at);
      return at;
    });
    expect(starts).toEqual([960, 980, 1_000]);
  });

  test.each([
    [959, false],
    [960, true],
  ])(
    "of two ids, a poll at %d was the last one: %j, and then it waits for the deadline",
    (startedAt, isLast) => {
      const polls = scheduler(1_000);
      polls.schedule(watched({ requestId: "other" }), 0, 5_000);
      const id = watched({ startedAt });
      polls.schedule(id, 965, 1);
      expect(id.hadLastPoll).toBe(isLast);
      expect(polls.findNextStart()).toBe(isLast ? 1_000 : 980);
    },
  );

  test.each([
    [979, 979],
    [980, 1_000],
  ])("a wait that ends before that time is kept: a poll planned for %d is at %d", (wait, start) => {
    const polls = scheduler(1_000);
    polls.schedule(watched(), 0, wait);
    expect(polls.findNextStart()).toBe(start);
  });

  test("the ids that are being polled have a last poll too", () => {
    const polls = scheduler(1_000);
    polls.noteStart(0);
    polls.noteStart(0);
    polls.schedule(watched(), 0, 940);
    expect(polls.findNextStart()).toBe(1_000);
  });

  test("the first poll of an id comes at once, however little time is left", () => {
    const polls = scheduler(1_000);
    const before = { polls: 0, startedAt: Number.NEGATIVE_INFINITY };
    for (let i = 0; i < 100; i++) polls.schedule(watched(before), 10, 0);
    for (let i = 0; i < 100; i++) expect(polls.popDue(10)).toBeDefined();
  });

  test("a wait that the service asked for holds until the deadline", () => {
    const polls = scheduler(1_000);
    polls.schedule(watched(), 0, 5_000);
    polls.schedule(watched({ notBefore: 990 }), 0, 5_000);
    const starts = [polls.popDue(1_000), polls.popDue(1_000)].map((id) => id?.notBefore);
    expect(starts).toEqual([0, 990]);
  });

  test("a wait that the service asked for may end when the last poll is planned", () => {
    const polls = scheduler(1_000);
    polls.schedule(watched(), 0, 5_000);
    polls.schedule(watched({ notBefore: 980 }), 0, 5_000);
    expect(polls.popDue(980)?.notBefore).toBe(980);
  });

  test("none is planned at it or after it", () => {
    expect(scheduler(1_000).schedule(watched(), 999, 0)).toBe(true);
    expect(scheduler(1_000).schedule(watched(), 1_000, 0)).toBe(false);
  });

  test("without a limit of the rate all are at it", () => {
    const polls = scheduler(1_000, false);
    for (let i = 0; i < 3; i++) polls.schedule(watched({ startedAt: 990 }), 990, 5_000);
    expect(polls.findNextStart()).toBe(1_000);
  });
});

test("after a suspend every id is due at once, but for a wait that the service asked for", () => {
  const polls = scheduler(100_000);
  polls.schedule(watched({ requestId: "asked", notBefore: 60_000 }), 0, 60_000);
  polls.schedule(watched({ requestId: "far", notBefore: 200_000 }), 0, 90_000);
  polls.schedule(watched({ requestId: "b" }), 0, 30_000);
  polls.rescheduleAll(50_000);
  expect(polls.popDue(50_000)?.requestId).toBe("b");
  expect(polls.findNextStart()).toBe(60_000);
  expect(polls.popDue(60_000)?.requestId).toBe("asked");
  expect(polls.findNextStart()).toBe(100_000);
});
