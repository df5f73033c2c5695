import { expect, test } from "vitest";
import { RefusedError, ResearchError, UnreachableError } from "../../../../src/client/calls/errors.js";
import type { RefusalKind } from "../../../../src/client/dialects/dialect.js";
import {
  classifyCreateFailure,
  FAILED_CREATES,
} from "../../../../src/client/workflows/batch/create-failure-policy.js";
import {
  CreateRefusedError,
  NotRecordedError,
  QuotaExceededError,
  UnresolvedCreateError,
} from "../../../../src/client/workflows/errors.js";

const refused = (kind: RefusalKind) => new RefusedError(kind, true, "X", "x");
const quota = new QuotaExceededError(1, 1_000, 0);

test.each<[string, unknown, boolean, string, string, string]>([
  [
    "an unknown outcome",
    new UnresolvedCreateError("x", {}, "l", undefined),
    false,
    "unknown",
    "unknown",
    "sent",
  ],
  [
    "an unknown outcome with an id in its answer",
    new UnresolvedCreateError("x", { requestId: "id" }, "l", undefined),
    false,
    ...(["unknown", "unknown", "sent"] as const),
  ],
  ["bad input", refused("invalid-input"), false, "refused", "refused", "sent"],
  ["another refusal", refused("refused"), false, "refused", "refused", "sent"],
  ["what the service cannot be asked", new ResearchError("USAGE", "x"), false, "refused", "refused", "sent"],
  ["a limit", refused("rate-limited"), true, "limited", "last", "waits"],
  ["a limit that is not waited for", refused("rate-limited"), false, "closed", "left", "ends"],
  ["one's own limit", quota, true, "own-limit", "first", "waits"],
  ["one's own limit that is not waited for", quota, false, "closed", "left", "ends"],
  [
    "no connection",
    new UnreachableError("UNREACHABLE", "x", { unsent: true }),
    false,
    "unreachable",
    "first",
    "backs-off",
  ],
  [
    "something in between",
    new UnreachableError("BAD_RESPONSE", "x"),
    false,
    "unreachable",
    "first",
    "backs-off",
  ],
  ["no money", refused("no-credit"), false, "closed", "left", "ends"],
  ["a refused key", refused("unauthenticated"), false, "closed", "left", "ends"],
  ["a wrong address", refused("not-found"), false, "closed", "left", "ends"],
  ["a wait past --timeout", new ResearchError("TIMEOUT", "x"), false, "closed", "left", "ends"],
  ["a day without a history", new CreateRefusedError("no-history"), false, "closed", "left", "ends"],
  ["a full disk", new NotRecordedError("x"), false, "broken", "left", "all-end"],
  ["a defect", new TypeError("x"), false, "broken", "left", "all-end"],
])("%s", (_, error, isWaitedFor, cause, row, account) => {
  expect(classifyCreateFailure(error, isWaitedFor)).toBe(cause);
  expect(FAILED_CREATES[classifyCreateFailure(error, isWaitedFor)]).toMatchObject({ row, account });
});
