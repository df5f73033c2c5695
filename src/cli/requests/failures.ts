import { ResearchError } from "../../client/errors.js";
import { type Failure, failureOf } from "../../machine/failure.js";
import type { LocalError } from "../../store/errors.js";
import type { Reporter } from "../terminal/reporter.js";

/** A failure of one request, which a person has to tell from those of others. */
export function withId(failure: Failure, requestId: string, { json }: Pick<Reporter, "json">): Failure {
  const { message } = failure;
  const isNamed = json || message.includes(requestId);
  return { ...failure, request_id: requestId, message: isNamed ? message : `${requestId}: ${message}` };
}

/** Shows one request's error on a line of its own and returns its exit code. Throws an error that did not come from the service. */
export async function showFailure(reporter: Reporter, error: unknown, requestId: string): Promise<number> {
  if (!(error instanceof ResearchError)) throw error;
  const failure = withId(failureOf(error), requestId, reporter);
  await reporter.error(failure);
  return failure.exit_code;
}

/** A state that could not be kept can be asked for again, so this is no error. */
export async function sayNotObserved(reporter: Reporter, error: LocalError | undefined): Promise<void> {
  if (error) await reporter.notice("HISTORY_NOT_UPDATED", error.message);
}
