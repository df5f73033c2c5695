import { expect, test } from "vitest";
import { DurationReport } from "../../../../src/cli/requests/format-progress.js";
import type { FollowEvent, WatchOutcome } from "../../../../src/client/workflows/follow-requests.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const NOW = Date.UTC(2030, 0, 1, 12);
const MINUTE = 60_000;

/** A report on the requests `a`, which began `agoMs` ago as far as is known, and `b`. */
function report({ agoMs, runs = 0 }: { agoMs?: number; runs?: number } = {}) {
  const began = agoMs === undefined ? undefined : new Date(NOW - agoMs).toISOString();
  const account = { origin: "o", history: { listDurations: () => Array(runs).fill(2 * MINUTE) } };
  const targets = [
    { requestId: "b", account },
    { requestId: "a", account, ...(began && { entry: { created_at: began, sent_at: began } }) },
  ];
  return new DurationReport(new VirtualClock(NOW), targets as never);
}
const outcome = (requestId: string, kind: WatchOutcome["kind"] = "final") =>
  ({ requestId, kind }) as WatchOutcome;
const seen = (requestId: string, previous: string | null, final = true) =>
  ({ kind: "state", requestId, previous, final }) as FollowEvent;

test("one request took the time since it began, if that is known", () => {
  expect(report({ agoMs: 3 * MINUTE }).formatText([outcome("a")], MINUTE)).toBe("a took 3m 00s");
  expect(report({ agoMs: MINUTE }).formatText([outcome("a")], MINUTE)).toBe("a took 1m 00s");
});

test.each([undefined, MINUTE - 1, -MINUTE])(
  "one that began %s ms ago, by a clock that was set back, took the time of the command",
  (agoMs) => {
    const taken = report(agoMs === undefined ? {} : { agoMs });
    expect(taken.formatText([outcome("a")], MINUTE)).toBe("a took 1m 00s");
  },
);

test("one that had ended when it was first seen took at most that, and nothing is said if that is not known", () => {
  const ofHistory = report({ agoMs: 3 * MINUTE });
  ofHistory.apply(seen("a", null));
  expect(ofHistory.formatText([outcome("a")], MINUTE)).toBe("a took at most 3m 00s");
  const brief = report({ agoMs: 4_999 });
  brief.apply(seen("a", null));
  expect(brief.formatText([outcome("a")], 0)).toBeUndefined();
  const unknown = report();
  unknown.apply(seen("a", null));
  expect(unknown.formatText([outcome("a")], MINUTE)).toBeUndefined();
});

test.each([
  seen("a", "PENDING"),
  seen("a", null, false),
  seen("b", null),
  { ...seen("a", null), kind: "unchanged" } as unknown as FollowEvent,
])("%j does not mean that it had ended before", (event) => {
  const taken = report({ agoMs: 3 * MINUTE });
  taken.apply(event);
  expect(taken.formatText([outcome("a")], MINUTE)).toBe("a took 3m 00s");
});

test("several had all ended after the time of the command", () => {
  expect(report({ agoMs: 3 * MINUTE }).formatText([outcome("a"), outcome("b")], MINUTE)).toBe(
    "all 2 had ended after 1m 00s",
  );
});

test("nothing is said of no request, and if one of them has not ended", () => {
  expect(report().formatText([], MINUTE)).toBeUndefined();
  expect(report().formatText([outcome("a"), outcome("b", "timeout")], MINUTE)).toBeUndefined();
});

test("the usual time stands beside it, if five runs are known", () => {
  const taken = report({ agoMs: 3 * MINUTE, runs: 5 });
  expect(taken.usual).toBe("usually 2m 00s");
  expect(taken.formatText([outcome("a")], MINUTE)).toBe("a took 3m 00s (usually 2m 00s)");
  expect(taken.formatText([outcome("a"), outcome("b")], MINUTE)).toBe(
    "all 2 had ended after 1m 00s (usually 2m 00s)",
  );
  expect(report({ runs: 4 }).usual).toBeUndefined();
});
