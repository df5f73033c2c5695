import { expect, test } from "vitest";
import { getOutcomeExitCode } from "../../../src/cli/requests/show-follow.js";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import type { WatchOutcome } from "../../../src/client/workflows/follow-requests.js";

const id = { requestId: "id", status: null };
const unreachable = new UnreachableError("UNREACHABLE", "m");
const missing = new RefusedError("not-found", true, "X", "m");

test.each<[string, WatchOutcome, number, number]>([
  ["COMPLETED", { ...id, status: "COMPLETED", kind: "final" }, 0, 0],
  ["FAILED", { ...id, status: "FAILED", kind: "final" }, 3, 3],
  ["STOPPED", { ...id, status: "STOPPED", kind: "final" }, 10, 10],
  ["final without a state", { ...id, kind: "final" }, 8, 8],
  ["running", { ...id, kind: "running" }, 8, 8],
  ["given up unreachable", { ...id, kind: "given-up", error: unreachable }, 9, 8],
  ["given up not found", { ...id, kind: "given-up", error: missing }, 5, 8],
  ["timeout", { ...id, kind: "timeout" }, 8, 8],
])("%s: %d for an older request, %d for one that this command created", (_, outcome, older, created) => {
  expect(getOutcomeExitCode(outcome)).toBe(older);
  expect(getOutcomeExitCode(outcome, { created: true })).toBe(created);
});
