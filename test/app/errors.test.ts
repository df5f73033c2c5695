import { expect, test } from "vitest";
import { EXIT_CODES, isOwnCode, refuseFlagsBeside, UsageError } from "../../src/app/errors.js";

test("the exit codes are those of contract §1.5", () => {
  expect(EXIT_CODES).toEqual({
    ...{
      INTERNAL: 1,
      USAGE: 2,
      NOT_CONFIGURED: 2,
      RESEARCH_FAILED: 3,
      NO_RESULT: 3,
      NOT_AUTHENTICATED: 4,
      NOT_FOUND: 5,
    },
    ...{
      NOT_ALLOWED: 6,
      NO_CREDIT: 6,
      RATE_LIMITED: 7,
      DAY_LIMIT: 7,
      BUDGET: 7,
      NOT_FINISHED: 8,
      NOT_CHECKED: 9,
      TIMEOUT: 8,
      UNREACHABLE: 9,
      BAD_RESPONSE: 9,
    },
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
  expect(isOwnCode(code)).toBe(expected);
});

test("bad input has the code USAGE, its sentence and its hint", () => {
  expect(new UsageError("invalid x", "Give y.")).toMatchObject({
    ...{ code: "USAGE", message: "invalid x", facts: { hint: "Give y." } },
  });
});

test("a flag is refused beside another one that is given, which is named as it is written", () => {
  expect(() => refuseFlagsBeside("--all", { json: undefined, quiet: false })).not.toThrow();
  expect(() => refuseFlagsBeside("--all", { json: false, notDomains: "", quiet: true }, "h")).toThrow(
    expect.objectContaining({
      message: "--all and --not-domains cannot be used together",
      facts: { hint: "h" },
    }),
  );
});
