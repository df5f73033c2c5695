import { expect, test } from "vitest";
import { OutageBackoff } from "../../../../../src/client/workflows/batch/create-pacer.js";
import { VirtualClock } from "../../../../support/virtual-clock.js";

/** A clock that stands still until the test moves it. */
function manualClock() {
  let now = 0;
  const clock = Object.assign(new VirtualClock(), { monotonic: () => now });
  return {
    clock,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("a service that never answered is not waited for", () => {
  const { clock } = manualClock();
  expect(new OutageBackoff(clock).noteFailed(600_000)).toEqual({ waitMs: undefined, isFirst: true });
});

test("waits grow with the outage, between 5 and 30 s, and only its first failure is the first", () => {
  const { clock, pass } = manualClock();
  const backoff = new OutageBackoff(clock);
  backoff.noteAnswered();
  expect(backoff.noteFailed(600_000)).toEqual({ waitMs: 5_000, isFirst: true });
  pass(12_000);
  expect(backoff.noteFailed(600_000)).toEqual({ waitMs: 12_000, isFirst: false });
  pass(100_000);
  expect(backoff.noteFailed(600_000)).toEqual({ waitMs: 30_000, isFirst: false });
});

test("an outage of the whole patience ends the waiting", () => {
  const { clock, pass } = manualClock();
  const backoff = new OutageBackoff(clock);
  backoff.noteAnswered();
  backoff.noteFailed(60_000);
  pass(59_999);
  expect(backoff.noteFailed(60_000).waitMs).toBe(30_000);
  pass(1);
  expect(backoff.noteFailed(60_000).waitMs).toBeUndefined();
});

test("an answer ends the outage, once, and the next one begins anew", () => {
  const { clock, pass } = manualClock();
  const backoff = new OutageBackoff(clock);
  expect(backoff.noteAnswered()).toBe(false);
  backoff.noteFailed(60_000);
  pass(50_000);
  expect(backoff.noteAnswered()).toBe(true);
  expect(backoff.noteAnswered()).toBe(false);
  pass(50_000);
  expect(backoff.noteFailed(60_000)).toEqual({ waitMs: 5_000, isFirst: true });
});
