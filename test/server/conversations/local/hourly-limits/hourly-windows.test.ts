import { expect, it } from "vitest";
import { HourlyWindows } from "../../../../../src/server/conversations/local/hourly-limits/hourly-windows.js";

const HOUR = 3_600_000;
const YEAR = 8_760 * HOUR;

it("allows as many as the limit in any hour, and says how long the next one has to wait", () => {
  const windows = new HourlyWindows();
  const take = (now: number, limit = 2) => windows.take("create", "k", limit, now);
  expect([take(0), take(1_000)]).toEqual([undefined, undefined]);
  expect(take(2_000)).toEqual({ retryAfterMs: HOUR - 2_000 });
  expect(take(HOUR - 1)).toEqual({ retryAfterMs: 1 });
  expect(take(HOUR)).toBeUndefined();
  expect(take(HOUR)).toEqual({ retryAfterMs: 1_000 });
  // A lower limit waits for more of them to leave.
  expect(take(HOUR, 1)).toEqual({ retryAfterMs: HOUR });
  expect(windows.take("create", "other", 2, HOUR)).toBeUndefined();
  expect(windows.take("stop", "k", 2, HOUR)).toBeUndefined();
  expect(take(HOUR, 0)).toEqual({ retryAfterMs: HOUR });
});

it("counts nothing without a limit", () => {
  const windows = new HourlyWindows();
  expect(windows.take("create", "k", Number.POSITIVE_INFINITY, 0)).toBeUndefined();
  expect([...windows.counts(0)]).toEqual([]);
});

it("takes back what was not carried out", () => {
  const windows = new HourlyWindows();
  windows.take("create", "k", 1, 5);
  windows.release({ operation: "create", key: "k", at: 5 });
  expect(windows.take("create", "k", 1, 6)).toBeUndefined();
});

it.each([
  ["set back by a year", 0, HOUR],
  // Within the hour the clock comes to the time of the request again, which holds from then on.
  ["set back by a minute", YEAR - 60_000, YEAR + HOUR],
])("what lies in the future counts as now: the clock was %s", (_name, now, free) => {
  const windows = new HourlyWindows();
  windows.take("create", "k", 1, YEAR);
  expect(windows.take("create", "k", 1, now)).toEqual({ retryAfterMs: HOUR });
  expect(windows.take("create", "k", 1, free - 1)).toEqual({ retryAfterMs: 1 });
  expect(windows.take("create", "k", 1, free)).toBeUndefined();
});

it("what is read back counts if it is of this hour, whatever its order and however far ahead", () => {
  const windows = new HourlyWindows();
  const now = 10 * HOUR;
  for (const at of [now + YEAR, now - 1_000, now - HOUR, now - 2_000])
    windows.restore({ operation: "create", key: "k", at }, now);
  expect([...windows.counts(now)].map(({ at }) => at)).toEqual([now - 2_000, now - 1_000, now]);
  expect(windows.take("create", "k", 3, now)).toEqual({ retryAfterMs: HOUR - 2_000 });
});

it("a clock that was set back and is right again hides no request", () => {
  const windows = new HourlyWindows();
  const take = (now: number) => windows.take("create", "k", 2, now);
  expect([take(YEAR), take(YEAR)]).toEqual([undefined, undefined]);
  expect(take(YEAR - 24 * HOUR)).toEqual({ retryAfterMs: HOUR });
  expect(take(YEAR + 60_000)).toEqual({ retryAfterMs: HOUR - 60_000 });
  expect(take(YEAR + HOUR)).toBeUndefined();
});

it("reads back a hundred thousand counts in any order at once", () => {
  const windows = new HourlyWindows();
  const begun = performance.now();
  for (let age = 0; age < 100_000; age++)
    windows.restore({ operation: "create", key: "k", at: 5 * HOUR - age }, 5 * HOUR);
  expect(windows.take("create", "k", 100_000, 5 * HOUR)).toEqual({ retryAfterMs: HOUR - 99_999 });
  expect(performance.now() - begun).toBeLessThan(5_000);
});
