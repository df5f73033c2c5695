import { expect, it } from "vitest";
import { HourlyWindows } from "../../../../src/server/conversations/local/hourly-windows.js";

const HOUR = 3_600_000;
const YEAR = 8_760 * HOUR;

it("allows as many as the limit in any hour, and says how long the next one has to wait", () => {
  const windows = new HourlyWindows();
  const take = (now: number, limit = 2) => windows.take({ operation: "create", key: "k", at: now }, limit);
  expect([take(0), take(1_000)]).toEqual([undefined, undefined]);
  expect(take(2_000)).toEqual({ retryAfterMs: HOUR - 2_000 });
  expect(take(HOUR - 1)).toEqual({ retryAfterMs: 1 });
  expect(take(HOUR)).toBeUndefined();
  expect(take(HOUR)).toEqual({ retryAfterMs: 1_000 });
  // A lower limit waits for more of them to leave.
  expect(take(HOUR, 1)).toEqual({ retryAfterMs: HOUR });
  expect(windows.take({ operation: "create", key: "other", at: HOUR }, 2)).toBeUndefined();
  expect(windows.take({ operation: "stop", key: "k", at: HOUR }, 2)).toBeUndefined();
  expect(take(HOUR, 0)).toEqual({ retryAfterMs: HOUR });
});

it("counts nothing without a limit", () => {
  const windows = new HourlyWindows();
  expect(windows.take({ operation: "create", key: "k", at: 0 }, Number.POSITIVE_INFINITY)).toBeUndefined();
  expect([...windows.counts(0)]).toEqual([]);
});

it("takes back what was not carried out", () => {
  const windows = new HourlyWindows();
  windows.take({ operation: "create", key: "k", at: 5 }, 1);
  windows.release({ operation: "create", key: "k", at: 5 });
  expect(windows.take({ operation: "create", key: "k", at: 6 }, 1)).toBeUndefined();
});

it("what lies in the future counts as now: the clock was set back", () => {
  const windows = new HourlyWindows();
  const take = (at: number) => windows.take({ operation: "create", key: "k", at }, 1);
  expect(take(YEAR)).toBeUndefined();
  expect(take(0)).toEqual({ retryAfterMs: HOUR });
  expect(take(HOUR - 1)).toEqual({ retryAfterMs: 1 });
  expect(take(HOUR)).toBeUndefined();
});

it("what is read back counts if it is of this hour, whatever its order and however far ahead", () => {
  const windows = new HourlyWindows();
  const now = 10 * HOUR;
  for (const at of [now + YEAR, now - 1_000, now - HOUR, now - 2_000])
    windows.restore({ operation: "create", key: "k", at }, now);
  expect([...windows.counts(now)].map(({ at }) => at)).toEqual([now - 2_000, now - 1_000, now]);
  expect(windows.take({ operation: "create", key: "k", at: now }, 3)).toEqual({ retryAfterMs: HOUR - 2_000 });
});

it("reads back counts in the wrong order in time that grows as their number", () => {
  const restore = (count: number) => {
    const windows = new HourlyWindows();
    for (let age = 0; age < count; age++)
      windows.restore({ operation: "create", key: "k", at: 5 * HOUR - age }, 5 * HOUR);
    expect(windows.take({ operation: "create", key: "k", at: 5 * HOUR }, count)).toEqual({
      retryAfterMs: HOUR - count + 1,
    });
  };
  /** The processor time for so many, in microseconds: the least of three tries, without a collection of garbage. */
  const cost = (count: number) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const begun = process.cpuUsage();
        restore(count);
        const { user, system } = process.cpuUsage(begun);
        return user + system;
      }),
    );
  // Ten times as many would take a hundred times as long if each were put in its place among all others.
  expect(cost(100_000)).toBeLessThan(30 * cost(10_000) + 100_000);
});
