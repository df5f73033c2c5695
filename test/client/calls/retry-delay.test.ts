import { describe, expect, test } from "vitest";
import { retryDelay } from "../../../src/client/calls/failure-policy.js";
import { readRetryAfter } from "../../../src/ground/http/exchange.js";

const NOW = Date.UTC(2030, 0, 1);

test("four tries, at about 0, 0.5, 1.5 and 4 s, each wait within a fifth", () => {
  const waits = (random: number) => [1, 2, 3, 4].map((failures) => retryDelay(failures, undefined, random));
  expect(waits(0.5)).toEqual([500, 1_000, 2_500, undefined]);
  expect(waits(0)).toEqual([400, 800, 2_000, undefined]);
  expect(waits(1).map((wait) => wait && Math.round(wait))).toEqual([600, 1_200, 3_000, undefined]);
});

test("a Retry-After within 30 s is kept and only lengthens; a longer one ends the tries", () => {
  expect(retryDelay(1, 30, 0.5)).toBe(30_000);
  expect(retryDelay(3, 1, 0.5)).toBe(2_500);
  expect(retryDelay(1, 31, 0.5)).toBeUndefined();
});

describe("a Retry-After header", () => {
  test.each([
    ["120", 120],
    [" 7 ", 7],
    ["0", 0],
    ["1.2", 2],
    ["Tue, 01 Jan 2030 00:01:00 GMT", 60],
    ["Mon, 31 Dec 2029 00:00:00 GMT", undefined],
    ["-5", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%j is %j seconds", (value, seconds) => {
    expect(readRetryAfter({ "retry-after": value }, NOW)).toBe(seconds);
  });

  test("an absurd one stays a number that a date can be made of", () => {
    const seconds = readRetryAfter({ "retry-after": "9".repeat(300) }, NOW) ?? 0;
    expect(Number.isSafeInteger(seconds * 1_000)).toBe(true);
    expect(seconds).toBeGreaterThan(1e9);
  });
});
