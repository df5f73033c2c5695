import { expect, test } from "vitest";
import { WaitReport } from "../../../src/cli/requests/format-progress.js";
import type { Terminal } from "../../../src/cli/terminal/reporter.js";
import { UnreachableError } from "../../../src/client/calls/errors.js";
import { VirtualClock } from "../../support/virtual-clock.js";

type Event = Parameters<WaitReport["show"]>[0];

/** The notices of these events, at noon on 2030-01-01. */
async function noticesOf(...events: Parameters<WaitReport["show"]>[]): Promise<string[]> {
  const notices: string[] = [];
  const writeNotice = async (code: string, message: string) => void notices.push(`${code}: ${message}`);
  const host = { clock: new VirtualClock(Date.UTC(2030, 0, 1, 12)) };
  const report = new WaitReport({ reporter: { writeNotice }, host } as unknown as Terminal);
  for (const event of events) await report.show(...event);
  return notices;
}

const error = (retryAfter?: number) => new UnreachableError("UNREACHABLE", "no answer", { retryAfter });
const trouble = (cause = error()): Event => ({ kind: "trouble", requestId: "id", error: cause });
const asked = (waitMs: number, cause = error()): Event => ({
  ...{ kind: "asked-to-wait", requestId: "id", waitMs, error: cause },
});

test.each([
  [undefined, "TROUBLE: no answer; polling goes on"],
  [5, "TROUBLE: no answer; polling goes on"],
  [6, "TROUBLE: no answer; polling goes on in 6s (until 2030-01-01T12:00:06.000Z)"],
  [600, "TROUBLE: no answer; polling goes on in 10m 00s (until 2030-01-01T12:10:00.000Z)"],
])("trouble with a Retry-After of %s seconds", async (retryAfter, notice) => {
  expect(await noticesOf([trouble(error(retryAfter))])).toEqual([notice]);
});

test.each([
  ["create", "TROUBLE: acme: no answer; it will be sent again"],
  ["poll", "TROUBLE: acme: no answer; polling goes on"],
  ["fetch", "TROUBLE: acme: no answer; the result will be fetched again"],
] as const)("trouble of a batch with a %s", async (activity, notice) => {
  expect(await noticesOf([{ kind: "trouble", activity, error: error() }, "acme: "])).toEqual([notice]);
});

test("the end of a trouble says how long the watch has taken", async () => {
  expect(await noticesOf([{ kind: "recovered", elapsedMs: 65_000 }], [{ kind: "recovered" }])).toEqual([
    "RECOVERED: the service answers again, 1m 05s into this watch",
    "RECOVERED: the service answers again",
  ]);
});

test.each([
  [300_000, []],
  [300_001, ["WAITING: the service asked to wait 5m 00s (until 2030-01-01T12:05:00.001Z)"]],
])("a wait of %d ms that the service asks for", async (waitMs, notices) => {
  expect(await noticesOf([asked(waitMs)])).toEqual(notices);
});

test("the wait that stands in the line of the trouble is not said twice, and the next one is said", async () => {
  const first = error(600);
  const notices = await noticesOf([trouble(first)], [asked(600_000, first)], [asked(600_000)]);
  expect(notices.map((notice) => notice.split(":")[0])).toEqual(["TROUBLE", "WAITING"]);
});
