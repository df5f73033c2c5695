import { expect, test } from "vitest";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import { History } from "../../../src/client/store/history/history.js";
import { QuotaExceededError } from "../../../src/client/workflows/errors.js";
import { findBlockedUntil, waitUntilWallTime } from "../../../src/client/workflows/wait-for-quota.js";
import type { Clock } from "../../../src/core/clock.js";
import { accountWith } from "../../support/account.js";
import { folderWith } from "../../support/folder.js";

const NOW = 100_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test("the hour is that of an origin and a key", () => {
  const history = new History(folderWith(), () => NOW);
  const attempt = { origin: "https://a.example", profile: null, apiKey: "k", body: { prompt: "x" } };
  history.begin(attempt).recordCreated("id", {});
  history.begin({ ...attempt, apiKey: "other" }).recordCreated("id-2", {});
  expect(history.countHour(attempt, 1).attempts).toEqual([NOW]);
});

const limited = (retryAfter?: number) => new RefusedError("rate-limited", true, "X", "m", { retryAfter });
const blocked = (error: unknown, attempts: number[] = [], limit?: number) =>
  findBlockedUntil(error, () => attempts, limit, NOW);

test.each([
  ["the hour of this machine", new QuotaExceededError(10, NOW + 5, NOW), NOW + 5],
  ["a stated wait", limited(90), NOW + 90_000],
  ["a stated wait of no time", limited(0), NOW + 1_000],
  ["a stated wait of a day", limited(86_400), NOW + 24 * HOUR],
  ["a longer one, which no command sits out", limited(86_401), undefined],
  ["a refusal of another kind", new RefusedError("refused", true, "X", "m", { retryAfter: 9 }), undefined],
  ["another error", new UnreachableError("UNREACHABLE", "m", { retryAfter: 9 }), undefined],
])("%s", (_, error, until) => {
  expect(blocked(error)).toBe(until);
});

test.each<[string, number[], number | undefined, number]>([
  ["nothing counted: a minute", [], undefined, MINUTE],
  ["the oldest has to leave", [-50 * MINUTE, -10 * MINUTE], undefined, 10 * MINUTE],
  ["the oldest leaves within the minute", [-HOUR + 1_000, 0], undefined, MINUTE],
  ["one out of the window does not count", [-HOUR, -10 * MINUTE], undefined, 50 * MINUTE],
  ["the limit is lower than what was counted", [-50 * MINUTE, -30 * MINUTE, -10 * MINUTE], 2, 30 * MINUTE],
  ["the limit is higher: the service counts otherwise", [-50 * MINUTE, -10 * MINUTE], 100, 10 * MINUTE],
  ["a limit of 0", [-50 * MINUTE], 0, 10 * MINUTE],
])("a 429 without a wait: %s", (_, ages, limit, wait) => {
  const attempts = ages.map((age) => NOW + age);
  expect(blocked(limited(), attempts, limit)).toBe(NOW + wait);
});

test("a wait that is guessed grows with each refusal in a row, and a stated one that is longer holds", () => {
  const waits = [0, 1, 2, 3].map(
    (guesses) => Number(findBlockedUntil(limited(3), () => [], undefined, NOW, guesses)) - NOW,
  );
  expect(waits).toEqual([3_000, 15_000, MINUTE, MINUTE]);
  expect(findBlockedUntil(limited(90), () => [], undefined, NOW, 3)).toBe(NOW + 90_000);
});

test("the attempts are read only for a 429 that states no wait", () => {
  const fail = () => {
    throw new Error("read");
  };
  expect(findBlockedUntil(limited(5), fail, undefined, NOW)).toBe(NOW + 5_000);
  expect(findBlockedUntil(new Error("x"), fail, undefined, NOW)).toBeUndefined();
});

const at = (clock: Partial<Clock>) => accountWith({ clock: clock as Clock });

test("a wait goes on until the wall clock is there, however often the sleep ends early", async () => {
  let now = 7;
  const slept: [number, AbortSignal | undefined][] = [];
  const sleep = async (ms: number, signal?: AbortSignal) => {
    slept.push([ms, signal]);
    now += Math.min(ms, 40);
  };
  const { signal } = new AbortController();
  await waitUntilWallTime(at({ now: () => now, monotonic: () => now, sleep }), 107.5, { signal });
  expect(slept).toEqual([
    [101, signal],
    [61, signal],
    [21, signal],
  ]);
});

test("a limit that is used up says when it is not", () => {
  const error = new QuotaExceededError(10, NOW + 1_500, NOW);
  expect(error).toMatchObject({ message: "the limit of 10 create requests is reached", retryAfter: 2 });
});

test("a wait for a moment that has come is none", async () => {
  const sleep = () => Promise.reject(new Error("slept"));
  await waitUntilWallTime(at({ now: () => 7, monotonic: () => 7, sleep }), 7, {});
});

test.each([
  ["set back", -365 * 24 * HOUR],
  ["set ahead", 365 * 24 * HOUR],
])("a wait does not become longer when the clock is %s", async (_, jump) => {
  const clock = { wall: 1_000, monotonic: 5 };
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    if (slept.push(ms) > 1) throw new Error("it waits on");
    clock.wall += jump;
    // A jump ahead ends the sleep early.
    clock.monotonic += jump < 0 ? ms : 1;
  };
  const given = { now: () => clock.wall, monotonic: () => clock.monotonic, sleep };
  await waitUntilWallTime(at(given), 1_100, {});
  expect(slept).toEqual([100]);
});
