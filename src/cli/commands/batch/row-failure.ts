import { RowTimeoutError, SlotTimeoutError } from "../../../workflows/batch/errors.js";
import type { RowError } from "../../../workflows/batch/folder/journal.js";
import { type Failure, failureOf } from "../../failure.js";
import { formatLimit, isoDate } from "../../terminal/durations.js";

/** `failureOf`, with the sentences for the time limits of a batch. */
export function batchFailure(error: unknown): Failure {
  const failure = failureOf(error);
  if (error instanceof RowTimeoutError) {
    const what = error.limit === "whole" ? "not finished" : "still in the queue";
    const message = `${error.requestId} is ${what} after ${formatLimit(error.timeoutMs)}`;
    return { ...failure, message };
  }
  if (error instanceof SlotTimeoutError) {
    const next = isoDate(error.until);
    const message = `the hourly limit is reached, and the next create is allowed at ${next}, after the ${formatLimit(error.timeoutMs)} of --timeout`;
    return { ...failure, message };
  }
  return failure;
}

/** The part of a failure that is kept with its row. */
export function rowError(error: unknown): RowError {
  const { code, message, exit_code, http_status, hint } = batchFailure(error);
  return { code, message, exit_code, ...(http_status && { http_status }), ...(hint && { hint }) };
}
