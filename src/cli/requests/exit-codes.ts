import type { Failure } from "../../app/describe-failure.js";
import { EXIT_CODES } from "../../app/errors.js";
import { ResearchError } from "../../client/calls/errors.js";
import { isFinal, type Status } from "../../core/protocol/conversation.js";
import type { Reporter } from "../terminal/reporter.js";

const ERRORS_FIRST = [3, 10, 8, 14, 15];

/** Returns the exit code for several ids (contract §1.5): the first error, or else the first of 3, 10, 8, 14 and 15 that occurred. */
export function pickWorstExit(codes: readonly number[]): number {
  const error = codes.find((code) => code !== 0 && !ERRORS_FIRST.includes(code));
  return error ?? ERRORS_FIRST.find((code) => codes.includes(code)) ?? 0;
}

/** Returns the exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function getStatusExitCode(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/** Adds the request's id to a failure, so that a reader of several errors knows which request each is about. */
export function addRequestId(failure: Failure, requestId: string, { json }: Pick<Reporter, "json">): Failure {
  const { message } = failure;
  const isNamed = json || message.includes(requestId);
  return { ...failure, request_id: requestId, message: isNamed ? message : `${requestId}: ${message}` };
}

/** Prints the error of one request and returns its exit code. Rethrows an error that did not come from the service. */
export async function showFailure(reporter: Reporter, error: unknown, requestId: string): Promise<number> {
  if (!(error instanceof ResearchError)) throw error;
  const { describeFailure } = await import("../../app/describe-failure.js");
  const failure = addRequestId(describeFailure(error), requestId, reporter);
  await reporter.writeError(failure);
  return failure.exit_code;
}
