import { expect, test } from "vitest";
import type { Failure } from "../../../src/app/describe-failure.js";
import { addRequestId, pickWorstExit, showFailure } from "../../../src/cli/requests/exit-codes.js";
import type { Reporter } from "../../../src/cli/terminal/reporter.js";
import { RefusedError } from "../../../src/client/calls/errors.js";
import { LocalError } from "../../../src/core/files/local-error.js";

const failure = (message: string) => ({ code: "X", message, exit_code: 5 });

test.each([
  ["not found", false, "id-1: not found"],
  ["id-1 is not found", false, "id-1 is not found"],
  ["not found", true, "not found"],
])("the failure %j (JSON: %s) is %j", (message, json, expected) => {
  expect(addRequestId(failure(message), "id-1", { json })).toEqual({
    ...failure(expected),
    request_id: "id-1",
  });
});

test("an error of the service is shown and gives its exit code, any other is thrown", async () => {
  const shown: Failure[] = [];
  const reporter = { json: false, writeError: async (error: Failure) => void shown.push(error) } as Reporter;
  const missing = new RefusedError("not-found", true, "X", "no such request");
  expect(await showFailure(reporter, missing, "id-1")).toBe(5);
  expect(shown).toMatchObject([{ message: "id-1: no such request", exit_code: 5, request_id: "id-1" }]);
  const local = new LocalError("disk");
  await expect(showFailure(reporter, local, "id-1")).rejects.toBe(local);
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
  expect(pickWorstExit(codes)).toBe(worst);
});
