import { describe, expect, test } from "vitest";
import { classifyLoginError, describeFailure, describeRowError } from "../../src/app/describe-failure.js";
import { CodedError, UsageError } from "../../src/app/errors.js";
import {
  NoOutputError,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../../src/client/calls/errors.js";
import { InputError } from "../../src/client/dialects/dialect.js";
import { InvalidSettingsError } from "../../src/client/store/settings-file.js";
import {
  NoAccountError,
  NotRecordedError,
  QuotaExceededError,
  UnresolvedCreateError,
} from "../../src/client/workflows/errors.js";
import { LocalError } from "../../src/core/files/local-error.js";
import { FolderError } from "../../src/core/files/user-folders.js";
import { BaseUrlError, ProxyError } from "../../src/core/http/base-url-and-proxy.js";

const refused = (kind: RefusalKind, facts = {}) => new RefusedError(kind, true, "SVC", "no", facts);

const WAITS = "With --wait-for-quota, create, run and rerun wait.";

describe("the code and the exit code of", () => {
  test.each<[string, unknown, string, number]>([
    ["bad input", new UsageError("m"), "USAGE", 2],
    ["a missing setting", new CodedError("NOT_CONFIGURED", "m"), "NOT_CONFIGURED", 2],
    ["a bad address", new BaseUrlError("m"), "USAGE", 2],
    ["a bad folder", new FolderError("m"), "USAGE", 2],
    ["a bad proxy", new ProxyError("m", "h"), "USAGE", 2],
    ["what a provider cannot be asked", new InputError("m", "h"), "USAGE", 2],
    [
      "several accounts, by the last one",
      new NoAccountError(
        [refused("not-found"), refused("rate-limited")].map((error) => ({ name: "p", error })),
      ),
      "SVC",
      7,
    ],
    ["this machine", new LocalError("m"), "LOCAL_IO", 12],
    ["settings that cannot be read", new InvalidSettingsError("/x", "not JSON"), "LOCAL_IO", 12],
    ["a create that was not recorded", new NotRecordedError("m"), "LOCAL_IO", 12],
    ["the hour's limit", new QuotaExceededError(10, 2_000, 0), "RATE_LIMITED", 7],
    [
      "the day's limit",
      new QuotaExceededError(10, 2_000, 0, { source: "s", origin: "o", profile: null }),
      "DAY_LIMIT",
      7,
    ],
    ["a budget of the local service", new RefusedError("rate-limited", true, "BUDGET", "m"), "BUDGET", 7],
    [
      "a completed one without a text",
      NoOutputError.of({ status: "FAILED", provider_status: "completed" }, "id"),
      "NO_RESULT",
      3,
    ],
    ["invalid input at the service", refused("invalid-input"), "SVC", 2],
    ["an invalid key", refused("unauthenticated"), "SVC", 4],
    ["an unknown request", refused("not-found"), "SVC", 5],
    ["a refusal", refused("refused"), "SVC", 6],
    ["the service's limit", refused("rate-limited"), "SVC", 7],
    ["no way to the service", new UnreachableError("UNREACHABLE", "m"), "UNREACHABLE", 9],
    ["an unreadable answer", new UnreachableError("BAD_RESPONSE", "m"), "BAD_RESPONSE", 9],
    ["a service that cannot answer now", new UnreachableError("SERVICE_DOWN", "m"), "SERVICE_DOWN", 9],
    ["an unknown outcome", new OutcomeUnknownError("m"), "OUTCOME_UNKNOWN", 11],
    ["no output yet", new NoOutputError("RUNNING", refused("refused"), "id"), "NOT_FINISHED", 8],
    ["no output of FAILED", new ResearchError("RESEARCH_FAILED", "m"), "RESEARCH_FAILED", 3],
    ["no output of STOPPED", new ResearchError("RESEARCH_STOPPED", "m"), "RESEARCH_STOPPED", 10],
    ["a row that is not finished in time", new ResearchError("TIMEOUT", "m"), "TIMEOUT", 8],
    ["a code that is not ours", new ResearchError("ODD", "m"), "ODD", 1],
    ["a defect", new TypeError("x is not a function"), "INTERNAL", 1],
    ["what is no error at all", "text", "INTERNAL", 1],
  ])("%s", (_, error, code, exitCode) => {
    expect(describeFailure(error)).toMatchObject({ code, exit_code: exitCode });
  });
});

describe("the sentence is that of the error", () => {
  test.each([
    new UsageError("m"),
    new LocalError("m"),
    new NotRecordedError("m"),
    new BaseUrlError("m"),
    new FolderError("m"),
    new ProxyError("m", "h"),
    new InputError("m", "h"),
    new UnreachableError("UNREACHABLE", "m"),
  ])("%o", (error) => {
    expect(describeFailure(error).message).toBe(error.message);
  });

  test("of several accounts it is that of each", () => {
    const failures = [
      { name: "a", error: refused("rate-limited") },
      { name: "b", error: new LocalError("disk full") },
    ];
    expect(describeFailure(new NoAccountError(failures)).message).toBe("a: no; b: disk full");
  });

  test("but a defect names its kind", () => {
    expect(describeFailure(new TypeError("x")).message).toBe("TypeError: x");
  });

  test("and the hint of a limit says how long to wait, if the service said so", () => {
    expect(describeFailure(refused("rate-limited"))).toMatchObject({
      ...{ message: "no", hint: "With --wait-for-quota, create, run and rerun wait." },
    });
    expect(describeFailure(refused("rate-limited", { retryAfter: 0 }))).toMatchObject({
      ...{ message: "no", hint: "Wait 0s. With --wait-for-quota, create, run and rerun wait." },
    });
    expect(describeFailure(refused("rate-limited", { retryAfter: 90 })).hint).toMatch(/^Wait 1m 30s\. /);
    expect(describeFailure(refused("refused", { retryAfter: 5 }))).toMatchObject({
      message: "no",
      hint: undefined,
    });
  });
});

describe("the facts", () => {
  test("of our own error", () => {
    const facts = { httpStatus: 404, hint: "h", requestId: "id", localId: "local-1", retryAfter: 7 };
    expect(describeFailure(new CodedError("NOT_FOUND", "m", facts))).toEqual({
      ...{ code: "NOT_FOUND", message: "m", exit_code: 5, http_status: 404, hint: "h" },
      ...{ request_id: "id", local_id: "local-1", retry_after: 7 },
    });
  });

  test("of the service's", () => {
    const facts = { httpStatus: 409, hint: "h", requestId: "id", retryAfter: 7 };
    expect(describeFailure(refused("refused", facts))).toEqual({
      ...{ code: "SVC", message: "no", exit_code: 6, http_status: 409, hint: "h" },
      ...{ request_id: "id", retry_after: 7 },
    });
  });

  test("of the hour's limit: the wait, and the flag that waits", () => {
    expect(describeFailure(new QuotaExceededError(10, 61_500, 1_000))).toEqual({
      ...{ code: "RATE_LIMITED", exit_code: 7, retry_after: 61 },
      message:
        "the hourly limit of 10 create requests is reached, as counted by this machine; the next one is allowed in 1m 01s",
      hint: "Nothing was sent. With --wait-for-quota, create, run and rerun wait.",
    });
  });

  test.each([
    [undefined, `${WAITS}`],
    [90, `Wait 1m 30s. ${WAITS}`],
    [86_400, `Wait 1d 00h. ${WAITS}`],
    [86_401, "Wait 1d 00h."],
    [20_784 * 86_400, "Wait 20784d 00h."],
  ])("of a limit: the flag that waits, if waiting ends within the day (%s s)", (retryAfter, hint) => {
    expect(describeFailure(refused("rate-limited", { retryAfter })).hint).toBe(hint);
  });

  test.each([
    [null, "https://a.example"],
    ["work", "https://a.example (profile work)"],
  ])("of the day's limit: whose it is (%j), what sets it, and until when", (profile, account) => {
    const day = { source: "RESEARCH_PER_DAY", origin: "https://a.example", profile };
    expect(describeFailure(new QuotaExceededError(10, 61_500, 1_000, day)).message).toBe(
      `the limit of 10 creates in 24 hours at ${account}, set by RESEARCH_PER_DAY, is reached, as counted by this machine; the next one is allowed in 1m 01s, at 1970-01-01T00:01:01.500Z`,
    );
  });
});

describe("the hint", () => {
  test.each<[unknown, RegExp]>([
    [new NotRecordedError("m"), /RESEARCH_STATE_DIR.*RESEARCH_NO_HISTORY=1/],
    [
      new RefusedError("unauthenticated", true, "SVC", "no such key", {}),
      /research config list.*research login/,
    ],
    [refused("no-credit"), /^Add credit/],
    [new InvalidSettingsError("/x", "not JSON"), /Correct the file/],
    [new ProxyError("m", "own"), /^own$/],
    [new InputError("m", "own"), /^own$/],
    [new TypeError("x"), /defect.*--verbose/],
  ])("of %o", (error, hint) => {
    expect(describeFailure(error).hint).toMatch(hint);
  });

  test("is absent where there is nothing to do", () => {
    for (const kind of ["invalid-input", "not-found", "refused"] as const)
      expect(describeFailure(refused(kind)).hint).toBeUndefined();
    expect(describeFailure(new UnreachableError("UNREACHABLE", "m")).hint).toBeUndefined();
    expect(describeFailure(new LocalError("m")).hint).toBeUndefined();
  });

  test("of the error itself stands before ours", () => {
    expect(describeFailure(refused("unauthenticated", { hint: "own" })).hint).toBe("own");
  });
});

test.each([
  [
    "local-1",
    undefined,
    "The outcome is recorded as unknown. To settle it, run: research resolve local-1 --request-id id, or --not-created.",
  ],
  [
    "local-1",
    new LocalError("disk full"),
    "The outcome is recorded as unknown. To settle it, run: research resolve local-1 --request-id id, or --not-created. disk full",
  ],
  [undefined, undefined, "The request is in no history; look for it as id where the service lists requests."],
])("an unknown create %s says how it is settled", (localId, notSaved, hint) => {
  const facts = { requestId: "id", httpStatus: 500 };
  expect(describeFailure(new UnresolvedCreateError("cut off", facts, localId, notSaved))).toMatchObject({
    ...{
      code: "OUTCOME_UNKNOWN",
      exit_code: 11,
      request_id: "id",
      http_status: 500,
      local_id: localId,
      hint,
    },
    message: expect.stringMatching(/may or may not exist.*\(cut off\)/),
  });
});

const answered = (facts: object, code = "X", enveloped = true) =>
  new RefusedError("refused", enveloped, code, "no", facts);

test.each<[string, ResearchError, boolean, string]>([
  ["401", answered({ httpStatus: 401 }), false, "refused"],
  ["400 that names the key", refused("unauthenticated", { httpStatus: 400 }), true, "refused"],
  ["403 for another reason", refused("unauthenticated", { httpStatus: 403 }), true, "valid"],
  ["its own code", answered({ httpStatus: 403 }, "INVALID_API_KEY"), false, "refused"],
  ["another refusal in an envelope", answered({ httpStatus: 403 }), false, "valid"],
  ["a refusal without one", answered({ httpStatus: 403 }, "X", false), false, "not-the-service"],
  ["500 in an envelope", answered({ httpStatus: 500 }), false, "valid"],
  ["500 of a provider", answered({ httpStatus: 500 }), true, "not-the-service"],
  ["499 of a provider", answered({ httpStatus: 499 }), true, "valid"],
  ["a code that is the service's", new ResearchError("ODD", "m"), false, "valid"],
  ["no answer", new UnreachableError("UNREACHABLE", "m"), false, "no-answer"],
  [
    "an answer cut off",
    new UnreachableError("UNREACHABLE", "m", { httpStatus: 502 }),
    false,
    "not-the-service",
  ],
  ["an unreadable answer", new UnreachableError("BAD_RESPONSE", "m"), false, "not-the-service"],
])("what %s says of the key", (_, error, isProvider, expected) => {
  expect(classifyLoginError(error, isProvider)).toBe(expected);
});

test("a row keeps the code, the sentence, the exit code, and what else there is", () => {
  expect(
    describeRowError(refused("unauthenticated", { httpStatus: 401, hint: "h", requestId: "id" })),
  ).toEqual({
    ...{ code: "SVC", message: "no", exit_code: 4, http_status: 401, hint: "h" },
  });
  expect(describeRowError(new ResearchError("TIMEOUT", "late"))).toEqual({
    ...{ code: "TIMEOUT", message: "late", exit_code: 8 },
  });
});
