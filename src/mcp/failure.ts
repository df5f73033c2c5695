import { CodedError, EXIT_CODES } from "../machine/errors.js";
import { type Failure, failureOf } from "../machine/failure.js";
import { CreateRefusedError, QuotaExceededError } from "../workflows/errors.js";

const REFUSED: Record<CreateRefusedError["kind"], string> = {
  "no-history":
    "Without a history a repeated call would create a second request. The person may run: research config unset history (or unset RESEARCH_NO_HISTORY).",
  "used-up": "The person started this server with --max-creates.",
};

/** An error as an agent is told of it: what a person has to do is said as such. */
export function toolFailure(error: unknown): Failure {
  if (error instanceof CreateRefusedError)
    return {
      ...{ code: "NOT_ALLOWED", message: error.message, exit_code: EXIT_CODES.NOT_ALLOWED },
      hint: REFUSED[error.kind],
    };
  const failure = failureOf(error);
  if (error instanceof QuotaExceededError)
    return { ...failure, hint: "Nothing was sent. Call again after retry_after seconds." };
  if (error instanceof CodedError && (error.code === "NOT_CONFIGURED" || error.code === "NOT_AUTHENTICATED"))
    return { ...failure, hint: "Ask the person to run in a terminal: research login" };
  return failure;
}
