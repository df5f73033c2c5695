import { describe, expect, test } from "vitest";
import { commandFailure, UnfinishedError } from "../../src/cli/errors.js";
import { Interrupted } from "../../src/cli/terminal/interruption.js";
import {
  NoOutputError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../../src/client/calls/errors.js";
import { LocalError } from "../../src/ground/files/local-error.js";
import { failureOf } from "../../src/machine/failure.js";

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

describe("what could not be finished", () => {
  const unfinished = (message: string, resume?: string, hint?: string) =>
    commandFailure(
      new UnfinishedError(
        new UnreachableError("UNREACHABLE", message, { hint, httpStatus: 503 }),
        "id",
        resume,
      ),
    );

  test("has the code of its cause and exit code 8, and names the request", () => {
    expect(unfinished("no way")).toEqual({
      ...{ code: "UNREACHABLE", message: "id: no way", exit_code: 8, request_id: "id", http_status: 503 },
    });
    expect(unfinished("no way to id").message).toBe("no way to id");
  });

  test.each([
    [undefined, undefined, undefined],
    ["research watch id", undefined, "The request exists; go on with: research watch id"],
    [undefined, "Look.", "Look."],
    ["research watch id", "Look.", "Look. The request exists; go on with: research watch id"],
  ])("says how to go on: %s, %s", (resume, hint, expected) => {
    expect(unfinished("m", resume, hint).hint).toBe(expected);
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends a command with %d, and says how it goes on", (signal, code) => {
  const error = Object.assign(new Interrupted(signal), { resume: "research watch id", requestId: "id" });
  expect(commandFailure(error)).toEqual({
    ...{ code: "INTERRUPTED", message: `interrupted by ${signal}`, exit_code: code },
    ...{ request_id: "id", hint: "research watch id" },
  });
});

test("any other error ends it as `failureOf` has it", () => {
  for (const error of [new LocalError("disk"), new UnreachableError("UNREACHABLE", "m"), "text"])
    expect(commandFailure(error)).toEqual(failureOf(error));
});
