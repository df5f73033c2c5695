import { expect, test } from "vitest";
import {
  buildWatchJson,
  formatLiveStates,
  formatStateChange,
} from "../../../src/cli/requests/format-progress.js";

test.each([
  [[null], "waiting  1m 05s"],
  [["PROCESSING"], "PROCESSING  1m 05s"],
  [["A\nB"], "A B  1m 05s"],
  [[null, null], "0 of 2 done, 2 waiting  1m 05s"],
  [["COMPLETED", "FAILED", "STOPPED"], "3 of 3 done  1m 05s"],
  [["PENDING", "COMPLETED", "PENDING", null], "1 of 4 done, 2 PENDING, 1 waiting  1m 05s"],
  [["\u001b[2J", "COMPLETED"], "1 of 2 done, 1 \\u{1b}[2J  1m 05s"],
])("the live line of %j is %j", (states, text) => {
  expect(formatLiveStates({ states, elapsedMs: 65_000 })).toBe(text);
});

test("how long runs usually take stands beside the time", () => {
  const usual = "usually 5m 00s";
  expect(formatLiveStates({ states: ["PENDING"], elapsedMs: 65_000, usual })).toBe(
    "PENDING  1m 05s (usually 5m 00s)",
  );
});

test("what the service says of one id's progress stands beside its state, of several it does not", () => {
  const progress = { step: "read", done: 7, of: 12, tokens: 48_000 };
  expect(formatLiveStates({ states: ["PROCESSING"], elapsedMs: 65_000, progress })).toBe(
    "PROCESSING  reading 7 of 12, 48,000 tokens  1m 05s",
  );
  expect(
    formatLiveStates({
      states: ["PENDING"],
      elapsedMs: 65_000,
      progress: { step: "queue", done: 1_200, of: 1_300 },
    }),
  ).toBe("PENDING  waiting, 1,200 before it of 1,300 that wait  1m 05s");
  expect(formatLiveStates({ states: ["PENDING", null], elapsedMs: 65_000, progress })).not.toContain(
    "reading",
  );
});

test("of one id the question stands at the end, on one line", () => {
  const question = "How do\ntides form?";
  expect(formatLiveStates({ states: ["PENDING"], elapsedMs: 0, question })).toBe(
    "PENDING  0s  How do tides form?",
  );
  expect(formatLiveStates({ states: ["PENDING", null], elapsedMs: 0, question })).not.toContain("tides");
});

test("a change is a line, and a state of several lines is one", () => {
  expect(formatStateChange("id", "PENDING", 2_000)).toBe("id is PENDING (2s)");
  expect(formatStateChange("id", "A\nid is COMPLETED", 0)).toBe("id is A id is COMPLETED (0s)");
});

test("a program gets whole milliseconds and the state before", () => {
  const line = { requestId: "id", status: "COMPLETED", previous: "PENDING", final: true };
  expect(buildWatchJson({ ...line, at: 1_000, elapsedMs: 12.6 })).toEqual({
    ...{ request_id: "id", status: "COMPLETED", previous_status: "PENDING" },
    ...{ at: "1970-01-01T00:00:01.000Z", elapsed_ms: 13, final: true },
  });
});
