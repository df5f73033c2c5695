import { expect, onTestFinished, test, vi } from "vitest";
import { onAbort, systemClock, waitUnlessAborted } from "../../src/core/clock.js";

const HOUR = 3_600_000;

/** What a suspend does to the two clocks: the wall jumps ahead of the monotonic one. */
function suspend(ms: number): void {
  const now = Date.now;
  onTestFinished(() => {
    Date.now = now;
  });
  Date.now = () => now() + ms;
}

test("a sleep takes as long as it should", async () => {
  const ended: string[] = [];
  setTimeout(() => ended.push("a shorter timer"), 40);
  await systemClock.sleep(50);
  expect(ended).toEqual(["a shorter timer"]);
});

test("a long sleep ends soon after the machine was suspended, all of them at once", async () => {
  const sleeps = [systemClock.sleep(HOUR), systemClock.sleep(2 * HOUR)];
  suspend(HOUR);
  await Promise.all(sleeps);
});

test("an aborted sleep rejects with the reason, before it and during it", async () => {
  const reason = new Error("enough");
  await expect(systemClock.sleep(HOUR, AbortSignal.abort(reason))).rejects.toBe(reason);
  const during = new AbortController();
  const sleep = systemClock.sleep(HOUR, during.signal);
  during.abort(reason);
  await expect(sleep).rejects.toBe(reason);
});

test("a sleep of months does not end at once, and nothing is left of sleeps that are over", async () => {
  const set = vi.spyOn(globalThis, "setInterval");
  const clear = vi.spyOn(globalThis, "clearInterval");
  onTestFinished(() => void vi.restoreAllMocks());
  const enough = new AbortController();
  const sleep = systemClock.sleep(100 * 24 * HOUR, enough.signal).catch(() => "aborted");
  expect(await Promise.race([sleep, systemClock.sleep(50)])).toBeUndefined();
  enough.abort();
  expect(await sleep).toBe("aborted");
  expect(set).toHaveBeenCalledTimes(1);
  expect(clear).toHaveBeenCalledTimes(1);
});

test("each listener of a signal is called once, those taken back are not, also while others are called", () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => void called.push("first"));
  const takeBack = onAbort(controller.signal, () => void called.push("taken back"));
  const second = onAbort(controller.signal, () => {
    called.push("second");
    second();
  });
  onAbort(controller.signal, () => void called.push("third"));
  takeBack();
  takeBack();
  controller.abort();
  expect(called).toEqual(["first", "second", "third"]);
});

test("a signal that is aborted already calls at once, and none at all never", () => {
  const called: string[] = [];
  onAbort(AbortSignal.abort(), () => void called.push("aborted"));
  onAbort(undefined, () => void called.push("none"))();
  expect(called).toEqual(["aborted"]);
});

test("what is waited for gives its result, or the reason of the signal if that comes first", async () => {
  const control = new AbortController();
  const never = new Promise<never>(() => {});
  expect(await waitUnlessAborted(Promise.resolve(1), control.signal)).toBe(1);
  await expect(waitUnlessAborted(Promise.reject(new Error("its own")), undefined)).rejects.toThrow("its own");
  const waiting = waitUnlessAborted(never, control.signal);
  control.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(waitUnlessAborted(never, control.signal)).rejects.toThrow("enough");
});
