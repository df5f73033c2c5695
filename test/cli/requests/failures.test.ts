import { expect, test } from "vitest";
import { sayNotObserved, showFailure, withId } from "../../../src/cli/requests/answers.js";
import type { Reporter } from "../../../src/cli/terminal/reporter.js";
import { RefusedError } from "../../../src/client/calls/errors.js";
import { LocalError } from "../../../src/ground/files/local-error.js";

const failure = (message: string) => ({ code: "X", message, exit_code: 5 });

test.each([
  ["not found", false, "id-1: not found"],
  ["id-1 is not found", false, "id-1 is not found"],
  ["not found", true, "not found"],
])("the failure %j (JSON: %s) is %j", (message, json, expected) => {
  expect(withId(failure(message), "id-1", { json })).toEqual({
    ...failure(expected),
    request_id: "id-1",
  });
});

function recorder() {
  const said: unknown[] = [];
  const reporter = {
    json: false,
    error: async (shown: unknown) => void said.push(shown),
    notice: async (...shown: unknown[]) => void said.push(shown),
  };
  return { said, reporter: reporter as unknown as Reporter };
}

test("an error of the service is shown and gives its exit code, any other is thrown", async () => {
  const { said, reporter } = recorder();
  const missing = new RefusedError("not-found", true, "X", "no such request");
  expect(await showFailure(reporter, missing, "id-1")).toBe(5);
  expect(said).toMatchObject([{ message: "id-1: no such request", exit_code: 5, request_id: "id-1" }]);
  const local = new LocalError("disk");
  await expect(showFailure(reporter, local, "id-1")).rejects.toBe(local);
});

test("a state that could not be kept is a notice", async () => {
  const { said, reporter } = recorder();
  await sayNotObserved(reporter, undefined);
  await sayNotObserved(reporter, new LocalError("disk full"));
  expect(said).toEqual([["HISTORY_NOT_UPDATED", "disk full"]]);
});
