import { describe, expect, test } from "vitest";
import { describeCommandFailure, UnfinishedError } from "../../src/cli/errors.js";
import { NoOutputError, RefusedError, UnreachableError } from "../../src/client/calls/errors.js";
import { LocalError } from "../../src/core/files/local-error.js";

// after-create.test.ts has what ends with 8.
describe("an error after the request exists", () => {
  const refusal = new RefusedError("refused", true, "X", "no");
  test.each<[string, unknown]>([
    ["FAILED", new NoOutputError("FAILED", refusal, "id")],
    ["STOPPED", new NoOutputError("STOPPED", refusal, "id")],
    ["an error of this machine", new LocalError("disk")],
    ["anything else", "text"],
  ])("%s stays what it is", (_, error) => {
    expect(UnfinishedError.wrapUnlessEnded(error, "id", undefined)).toBe(error);
  });
});

describe("what could not be finished", () => {
  const unfinished = (message: string, resume?: string, hint?: string) =>
    describeCommandFailure(
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
