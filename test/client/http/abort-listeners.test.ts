import { expect, test } from "vitest";
import { onAbort } from "../../../src/client/http/abort-listeners.js";

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
