import { expect, test } from "vitest";
import { InterruptibleSleep } from "../../../../src/client/calls/watch/interruptible-sleep.js";
import type { Clock } from "../../../../src/core/clock.js";

/** A clock that is moved by hand, and the sleeps that it was asked for. */
function world(signal?: AbortSignal) {
  const time = { ms: 0 };
  const timers: {
    ms: number;
    end: () => void;
    fail: (error: Error) => void;
    signal: AbortSignal | undefined;
  }[] = [];
  const clock: Clock = {
    now: () => time.ms,
    monotonic: () => time.ms,
    sleep: (ms, off) =>
      new Promise((resolve, reject) => {
        off?.addEventListener("abort", () => reject(off.reason));
        timers.push({ ms, end: resolve, fail: reject, signal: off });
      }),
  };
  return { time, timers, sleep: new InterruptibleSleep(clock, signal) };
}

const never = Number.POSITIVE_INFINITY;

test("it ends when its time has come, on time", async () => {
  const { time, timers, sleep } = world();
  const slept = sleep.sleepUntil(100);
  expect(timers.map(({ ms }) => ms)).toEqual([100]);
  time.ms = 100;
  timers[0]?.end();
  expect(await slept).toBe(false);
});

test("if the clock ends it before its time, it says so: the machine was suspended", async () => {
  const { time, timers, sleep } = world();
  const slept = sleep.sleepUntil(100);
  time.ms = 99;
  timers[0]?.end();
  expect(await slept).toBe(true);
});

test("an interruption ends it; one that came before it ends the next one, and no other", async () => {
  const { sleep, timers, time } = world();
  const slept = sleep.sleepUntil(never);
  sleep.interrupt();
  expect(await slept).toBe(false);
  sleep.interrupt();
  expect(await sleep.sleepUntil(never)).toBe(false);
  const later = sleep.sleepUntil(100);
  expect(timers).toHaveLength(1);
  time.ms = 100;
  timers[0]?.end();
  expect(await later).toBe(false);
});

test("a signal ends the sleep that is under way and each later one", async () => {
  const control = new AbortController();
  const { sleep, timers } = world(control.signal);
  const slept = sleep.sleepUntil(never);
  control.abort();
  expect(await slept).toBe(false);
  expect(await sleep.sleepUntil(100)).toBe(false);
  expect(await sleep.sleepUntil(100)).toBe(false);
  expect(timers).toEqual([]);
});

test("a timer that ends sooner stays, a later one is replaced", async () => {
  const { sleep, timers, time } = world();
  const first = sleep.sleepUntil(100);
  sleep.interrupt();
  await first;
  const second = sleep.sleepUntil(200);
  expect(timers).toHaveLength(1);
  sleep.interrupt();
  await second;
  const again = sleep.sleepUntil(100);
  expect(timers).toHaveLength(1);
  sleep.interrupt();
  await again;
  time.ms = 10;
  const third = sleep.sleepUntil(50);
  expect(timers.map(({ ms }) => ms)).toEqual([100, 40]);
  expect(timers.map((timer) => timer.signal?.aborted)).toEqual([true, false]);
  time.ms = 50;
  timers[1]?.end();
  expect(await third).toBe(false);
});

test("a time that has passed is no negative sleep", () => {
  const { sleep, timers, time } = world();
  time.ms = 100;
  void sleep.sleepUntil(40);
  expect(timers.map(({ ms }) => ms)).toEqual([0]);
});

test("the failure of the clock is that of the sleep, and the next sleep has a timer of its own", async () => {
  const { sleep, timers } = world();
  const slept = sleep.sleepUntil(100);
  timers[0]?.fail(new Error("clock"));
  await expect(slept).rejects.toThrow("clock");
  void sleep.sleepUntil(100);
  expect(timers).toHaveLength(2);
});

test("a timer that has just ended does not end the sleep of the one that replaces it", async () => {
  const { sleep, timers, time } = world();
  const first = sleep.sleepUntil(100);
  sleep.interrupt();
  await first;
  timers[0]?.end();
  const second = sleep.sleepUntil(50);
  await new Promise((resolve) => setImmediate(resolve));
  time.ms = 50;
  timers[1]?.end();
  expect(await second).toBe(false);
});

test("a timer that ends or fails between two sleeps is replaced", async () => {
  const { sleep, timers } = world();
  const interrupted = async () => {
    const slept = sleep.sleepUntil(100);
    sleep.interrupt();
    await slept;
  };
  await interrupted();
  timers[0]?.end();
  await new Promise((resolve) => setImmediate(resolve));
  await interrupted();
  timers[1]?.fail(new Error("clock"));
  await new Promise((resolve) => setImmediate(resolve));
  await interrupted();
  expect(timers).toHaveLength(3);
});

test("without a signal and a timer there is nothing to dispose of", () => {
  expect(() => world().sleep.dispose()).not.toThrow();
});

test("disposed, it leaves no timer and does not hear its signal", async () => {
  const control = new AbortController();
  const { sleep, timers } = world(control.signal);
  const slept = sleep.sleepUntil(100);
  sleep.dispose();
  expect(timers[0]?.signal?.aborted).toBe(true);
  let isOver = false;
  void slept.then(() => {
    isOver = true;
  });
  control.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
});
