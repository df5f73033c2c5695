import { expect, test } from "vitest";
import { onAbort, untilAborted } from "../src/abort.js";

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
  expect(await untilAborted(Promise.resolve(1), control.signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error("its own")), undefined)).rejects.toThrow("its own");
  const waiting = untilAborted(never, control.signal);
  control.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(untilAborted(never, control.signal)).rejects.toThrow("enough");
});
