import { describe, expect, test } from "vitest";
import type { Unsuccessful } from "../../../../src/client/calls/classify-response.js";
import {
  DEFAULT_PATIENCE_MS,
  decideAfterFailedPoll,
  type PollCircumstances,
} from "../../../../src/client/calls/watch/give-up-policy.js";
import type { WatchedRequest } from "../../../../src/client/calls/watch/watched-request.js";
import { fault, refused, watched } from "./fixtures.js";

const MINUTE = 60_000;
const NOW = { answered: true, patience: 10 * MINUTE, now: MINUTE, wallNow: 1e9 };

function decide(
  failed: Unsuccessful,
  id: Partial<WatchedRequest> = {},
  circumstances: Partial<PollCircumstances> = {},
) {
  const parts = { polls: 2, failures: 1, startedAt: MINUTE, recordedAt: 0, ...id };
  return decideAfterFailedPoll(watched(parts), failed, { ...NOW, ...circumstances }, 1_000, 0.5);
}
const ends = (...args: Parameters<typeof decide>) => "end" in decide(...args);

describe("a fault", () => {
  test.each([
    ["lost", true, 2, false],
    ["lost", false, 2, false],
    ["lost", false, 1, false],
    ["unconnectable", false, 1, true],
    ["unconnectable", false, 2, false],
    ["unconnectable", true, 1, false],
    ["redirected", false, 2, true],
    ["redirected", true, 2, false],
    ["wrong-method", false, 1, true],
  ] as const)(
    "%s, the service having answered: %j, on poll %d, ends it: %j",
    (name, answered, polls, end) => {
      expect(ends(fault(name), { polls }, { answered })).toBe(end);
    },
  );

  test("of an id that is not in the history ends it after four tries, until the service has answered", () => {
    const unknown = { recordedAt: undefined };
    expect(ends(fault("lost"), { ...unknown, failures: 3 }, { answered: false })).toBe(false);
    expect(ends(fault("lost"), { ...unknown, failures: 4 }, { answered: false })).toBe(true);
    expect(ends(fault("lost"), { ...unknown, failures: 4 }, { answered: true })).toBe(false);
    expect(ends(fault("lost"), { failures: 4 }, { answered: false })).toBe(false);
  });
});

test.each([
  [60, 60_000],
  [900, 900_000],
  [901, 900_000],
  [99_999_999, 900_000],
])(
  "a refusal that asks to wait %d s is waited for, but no poll for longer than 15 minutes",
  (retryAfter, askedMs) => {
    const limited = refused("rate-limited", true, { retryAfter });
    expect(decide(limited)).toMatchObject({ askedMs, waitMs: askedMs });
  },
);

describe("a refusal", () => {
  test.each([
    ["unauthenticated", refused("unauthenticated"), true, true],
    ["unauthenticated by something in between", refused("unauthenticated", false), true, true],
    ["refused", refused("refused"), true, true],
    ["not found", refused("not-found"), true, true],
    ["a 404 page before the service answered", refused("not-found", false), false, true],
    ["a 404 page later", refused("not-found", false), true, false],
    ["a rate limit", refused("rate-limited"), false, false],
    ["a 413 before the service answered", refused("invalid-input", true, { httpStatus: 413 }), false, true],
    ["a 413 later", refused("invalid-input", true, { httpStatus: 413 }), true, false],
    ["a 414 later", refused("invalid-input", true, { httpStatus: 414 }), true, false],
    ["a 431 later", refused("invalid-input", true, { httpStatus: 431 }), true, false],
    ["a 400", refused("invalid-input", true, { httpStatus: 400 }), true, true],
  ] as const)("%s ends it: (answered: %3$j) %4$j", (_what, failed, answered, end) => {
    expect(ends(failed, {}, { answered })).toBe(end);
  });

  test("not found is borne for a minute after the create, on either side of the clock", () => {
    const { wallNow } = NOW;
    for (const recordedAt of [wallNow, wallNow - MINUTE + 1, wallNow + MINUTE - 1])
      expect(ends(refused("not-found"), { recordedAt })).toBe(false);
    for (const recordedAt of [wallNow - MINUTE, wallNow + MINUTE, undefined])
      expect(ends(refused("not-found"), { recordedAt })).toBe(true);
    expect(ends(refused("not-found"), { recordedAt: wallNow, startedAt: 10 * MINUTE })).toBe(true);
  });
});

describe("patience ends with a poll that started after it was over", () => {
  test.each([
    [fault("lost"), 10 * MINUTE - 1, false],
    [fault("lost"), 10 * MINUTE, true],
    [refused("rate-limited"), 10 * MINUTE - 1, false],
    [refused("rate-limited"), 10 * MINUTE, true],
  ])("%#", (failed, startedAt, end) => {
    expect(ends(failed, { startedAt }, { now: 20 * MINUTE })).toBe(end);
  });

  test("and is counted from the last successful poll", () => {
    const id = { quietSince: 6 * MINUTE };
    expect(ends(fault("lost"), { ...id, startedAt: 16 * MINUTE - 1 }, { now: 20 * MINUTE })).toBe(false);
    expect(ends(fault("lost"), { ...id, startedAt: 16 * MINUTE }, { now: 20 * MINUTE })).toBe(true);
  });

  test("and then the error says that there was no successful poll", () => {
    const decision = decide(refused("rate-limited"), { startedAt: 10 * MINUTE });
    expect(decision).toMatchObject({
      end: { code: "UNREACHABLE", message: "no poll has succeeded for too long: no" },
    });
    expect(decide(fault("lost"), { startedAt: 10 * MINUTE })).toMatchObject({ end: { message: "lost" } });
  });

  test("the default is ten minutes", () => {
    expect(DEFAULT_PATIENCE_MS).toBe(10 * MINUTE);
  });
});

describe("the next poll comes", () => {
  test.each([
    [1, 1_000, 1_000],
    [3, 1_000, 2_500],
    [4, 1_000, 5_000],
    [9, 1_000, 5_000],
    [9, 20_000, 20_000],
  ])("after failure %d at an interval of %d ms in %d ms", (failures, interval, wait) => {
    const id = watched({ failures, startedAt: MINUTE, recordedAt: 0 });
    expect(decideAfterFailedPoll(id, fault("lost"), NOW, interval, 0.5)).toEqual({
      waitMs: wait,
      askedMs: 0,
    });
  });

  test("when patience ends, if that is sooner, and never at once", () => {
    const almost = { startedAt: 10 * MINUTE - 5_000 };
    expect(decide(fault("lost"), { ...almost, failures: 9 }, { now: 10 * MINUTE - 300 })).toMatchObject({
      waitMs: 300,
    });
    expect(decide(fault("lost"), almost, { now: 11 * MINUTE })).toMatchObject({ waitMs: 1 });
  });

  test("not before the service wants it, and patience waits as long", () => {
    expect(decide(fault("unavailable", 90))).toEqual({ waitMs: 90_000, askedMs: 90_000 });
    expect(decide(fault("unavailable", 1), { failures: 9 })).toEqual({ waitMs: 5_000, askedMs: 1_000 });
    const late = { now: 10 * MINUTE - 300 };
    expect(decide(fault("unavailable", 2), { failures: 9 }, late)).toEqual({ waitMs: 2_300, askedMs: 2_000 });
  });
});
