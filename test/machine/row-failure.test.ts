import { expect, test } from "vitest";
import { RefusedError } from "../../src/client/calls/errors.js";
import { RowTimeoutError, SlotTimeoutError } from "../../src/client/workflows/errors.js";
import { failureOf, rowError } from "../../src/machine/failure.js";

const refused = (facts = {}) => new RefusedError("unauthenticated", true, "X", "no", facts);

test.each<[unknown, string, string, number]>([
  [new RowTimeoutError("id", 61_000), "id is not finished after 61s", "TIMEOUT", 8],
  [new RowTimeoutError("id", 500), "id is not finished after 500ms", "TIMEOUT", 8],
  [
    new SlotTimeoutError(500, Date.UTC(2030, 0, 1)),
    "a limit of creates is reached, and the next one is allowed at 2030-01-01T00:00:00.000Z, after the 500ms of --timeout",
    "TIMEOUT",
    8,
  ],
  [refused(), "no", "X", 4],
])("%s", (error, message, code, exitCode) => {
  expect(failureOf(error)).toMatchObject({ message, code, exit_code: exitCode });
});

test("a row keeps the code, the sentence, the exit code, and what else there is", () => {
  expect(rowError(refused({ httpStatus: 401, hint: "h", requestId: "id" }))).toEqual({
    ...{ code: "X", message: "no", exit_code: 4, http_status: 401, hint: "h" },
  });
  expect(rowError(new RowTimeoutError("id", 1_000))).toEqual({
    ...{ code: "TIMEOUT", message: "id is not finished after 1s", exit_code: 8 },
  });
});
