import { describe, expect, test } from "vitest";
import { EXIT_CODES, isOurs, UnfinishedError, UsageError, worstOf } from "../../src/cli/errors.js";
import { NoOutputError, RefusedError, ResearchError, UnreachableError } from "../../src/client/errors.js";
import { LocalError } from "../../src/store/errors.js";

test("the exit codes are those of contract §1.5", () => {
  expect(EXIT_CODES).toEqual({
    ...{ INTERNAL: 1, USAGE: 2, NOT_CONFIGURED: 2, RESEARCH_FAILED: 3, NOT_AUTHENTICATED: 4, NOT_FOUND: 5 },
    ...{ NOT_ALLOWED: 6, RATE_LIMITED: 7, NOT_FINISHED: 8, TIMEOUT: 8, UNREACHABLE: 9, BAD_RESPONSE: 9 },
    ...{ RESEARCH_STOPPED: 10, OUTCOME_UNKNOWN: 11, LOCAL_IO: 12, SCHEMA_MISMATCH: 13 },
  });
});

test.each([
  ["USAGE", true],
  ["TIMEOUT", true],
  ["INTERRUPTED", true],
  ["INVALID_ARGUMENT", false],
  ["", false],
])("the code %j is one of ours: %s", (code, expected) => {
  expect(isOurs(code)).toBe(expected);
});

test.each([
  [[0, 8, 10, 3, 5, 9], 5],
  [[9, 5, 3], 9],
  [[8, 10, 3, 0], 3],
  [[0, 8, 10], 10],
  [[0, 8], 8],
  [[8, 1], 1],
  [[0, 0], 0],
  [[], 0],
])("of the exit codes %j the worst is %d", (codes, worst) => {
  expect(worstOf(codes)).toBe(worst);
});

test("bad input has the code USAGE, its sentence and its hint", () => {
  expect(new UsageError("invalid x", "Give y.")).toMatchObject({
    ...{ code: "USAGE", message: "invalid x", facts: { hint: "Give y." } },
  });
});

describe("an error after the request exists", () => {
  const refusal = new RefusedError("refused", true, "X", "no");
  test.each<[string, ResearchError]>([
    ["a network error", new UnreachableError("UNREACHABLE", "no way")],
    ["a refusal", refusal],
    ["no output yet", new NoOutputError("RUNNING", refusal, "id")],
    ["a code that only begins so", new ResearchError("RESEARCH_FAILED_X", "m")],
    ["a code that only ends so", new ResearchError("X_RESEARCH_FAILED", "m")],
  ])("%s: the command did not finish, and the cause is kept", (_, error) => {
    const unfinished = UnfinishedError.unlessEnded(error, "id", "research watch id");
    expect(unfinished).toBeInstanceOf(UnfinishedError);
    expect(unfinished).toMatchObject({
      ...{ cause: error, message: error.message, requestId: "id", resume: "research watch id" },
    });
  });

  test.each<[string, unknown]>([
    ["FAILED", new NoOutputError("FAILED", refusal, "id")],
    ["STOPPED", new NoOutputError("STOPPED", refusal, "id")],
    ["an error of this machine", new LocalError("disk")],
    ["anything else", "text"],
  ])("%s stays what it is", (_, error) => {
    expect(UnfinishedError.unlessEnded(error, "id", undefined)).toBe(error);
  });
});
