import { expect, test } from "vitest";
import { UnreachableError } from "../../../src/client/calls/errors.js";
import { type FollowEvent, WatchProgress } from "../../../src/client/workflows/follow.js";

const error = new UnreachableError("UNREACHABLE", "m");
const moment = { at: 0, elapsedMs: 0 };
const state = (requestId: string, status: string): FollowEvent => ({
  ...{ kind: "state", requestId, status, previous: null, final: false, data: {}, ...moment },
});

test.each<[string, FollowEvent, object]>([
  ["a state", state("b", "PROCESSING"), { status: "PROCESSING", kind: "running" }],
  ["COMPLETED", state("b", "COMPLETED"), { status: "COMPLETED", kind: "final" }],
  ["FAILED", state("b", "FAILED"), { status: "FAILED", kind: "final" }],
  ["STOPPED", state("b", "STOPPED"), { status: "STOPPED", kind: "final" }],
  [
    "given up",
    { kind: "given-up", requestId: "b", status: "PENDING", error, ...moment },
    { status: "PENDING", kind: "given-up", error },
  ],
  [
    "out of time",
    { kind: "timeout", requestId: "b", status: null, ...moment },
    { status: null, kind: "timeout" },
  ],
  ["trouble", { kind: "trouble", requestId: "b", error }, { status: null, kind: "running" }],
  ["nothing new", { kind: "unchanged", elapsedMs: 1 }, { status: null, kind: "running" }],
])("%s changes its request and no other", (_, event, outcome) => {
  const progress = new WatchProgress(["a", "b", "c"]);
  progress.apply(event);
  const running = { status: null, kind: "running" };
  expect(progress.outcomes).toEqual([
    { requestId: "a", ...running },
    { requestId: "b", ...outcome },
    { requestId: "c", ...running },
  ]);
});

test("what is followed is what has no end yet", () => {
  const progress = new WatchProgress(["a", "b"]);
  progress.apply(state("a", "COMPLETED"));
  progress.apply(state("b", "PROCESSING"));
  expect(progress.running.map(({ requestId }) => requestId)).toEqual(["b"]);
});
