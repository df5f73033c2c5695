import { expect, test } from "vitest";
import type { Host, Signal } from "../../../src/cli/terminal/host.js";
import { Interruption } from "../../../src/cli/terminal/interruption.js";

/** An interruption of a process; `terminal`: which of its streams is one. */
function world(terminal: "stdin" | "stdout" | "stderr" | undefined = undefined) {
  const listeners = new Set<(signal: Signal) => void>();
  const died: Signal[] = [];
  const stream = (name: string) => ({ isTTY: name === terminal });
  const host = {
    ...{ stdin: stream("stdin"), stdout: stream("stdout"), stderr: stream("stderr") },
    onSignal: (listener: (signal: Signal) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    die: (signal: Signal) => void died.push(signal),
  };
  const interruption = new Interruption(host as unknown as Host);
  return {
    interruption,
    died,
    listeners,
    send(signal: Signal) {
      for (const hear of listeners) hear(signal);
    },
  };
}

test("the first signal asks the command to end, the second one ends the process", () => {
  const { interruption, died, send } = world();
  expect([interruption.signal.aborted, interruption.received, interruption.unhandled]).toEqual([
    ...[false, undefined, undefined],
  ]);
  send("SIGTERM");
  expect(interruption.signal.reason).toMatchObject({ signal: "SIGTERM" });
  expect([interruption.received, interruption.unhandled, died]).toEqual(["SIGTERM", "SIGTERM", []]);
  send("SIGINT");
  expect([interruption.received, died]).toEqual(["SIGTERM", ["SIGINT"]]);
});

test.each([
  [undefined, false],
  ["stdin", true],
  ["stdout", true],
  ["stderr", true],
] as const)("a hang-up with the terminal on %s ends the command: %s", (terminal, ends) => {
  const { interruption, send } = world(terminal);
  send("SIGHUP");
  expect(interruption.signal.aborted).toBe(ends);
});

test("a signal that is handled ends no process, and is still the one received", () => {
  const { interruption, send } = world();
  send("SIGINT");
  interruption.markHandled();
  expect([interruption.received, interruption.unhandled]).toEqual(["SIGINT", undefined]);
});

test("released, it hears nothing more", () => {
  const { interruption, listeners } = world();
  interruption.release();
  interruption.release();
  expect(listeners.size).toBe(0);
});
