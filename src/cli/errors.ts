import { describeFailure, type Failure } from "../app/describe-failure.js";
import { CodedError, EXIT_CODES } from "../app/errors.js";
import { ResearchError } from "../client/calls/errors.js";
import { InvalidSettingsError } from "../client/store/settings-file.js";
import { LocalError } from "../core/files/local-error.js";
import type { Signal } from "./terminal/host.js";
import { Interrupted } from "./terminal/interruption.js";

/**
 * Thrown if a request exists, but has not ended or its result was not fetched. The exit code is 8 (contract §1.5),
 * because a script would send the create call again after another code.
 */
export class UnfinishedError extends Error {
  constructor(
    override readonly cause: ResearchError,
    readonly requestId: string,
    readonly resume: string | undefined,
  ) {
    super(cause.message, { cause });
  }

  /** Converts `error` to an UnfinishedError, unless the request has ended or the error did not come from the service. */
  static wrapUnlessEnded(error: unknown, requestId: string, resume: string | undefined): unknown {
    const hasEnded =
      error instanceof ResearchError && /^(?:RESEARCH_(?:FAILED|STOPPED)|NO_RESULT)$/.test(error.code);
    return error instanceof ResearchError && !hasEnded
      ? new UnfinishedError(error, requestId, resume)
      : error;
  }
}

/** Adds to `error` the request whose result could not be written, and the command that fetches it again. */
export function wrapOutputError(error: unknown, requestId: string, resume?: string): unknown {
  if (!(error instanceof LocalError)) return error;
  return new CodedError("LOCAL_IO", error.message, {
    requestId,
    hint: resume && describeExistingRequest(resume),
  });
}

/** Returns the reason of a signal that came after the create, with the command that resumes. */
export function wrapInterrupted(signal: AbortSignal, requestId: string, goOn: string | undefined): unknown {
  const { reason } = signal;
  if (reason instanceof Interrupted) {
    reason.requestId = requestId;
    reason.resume = goOn && `nothing is lost; go on with: ${goOn}`;
  }
  return reason;
}

function describeExistingRequest(resume: string): string {
  return `The request exists; go on with: ${resume}`;
}

export const SIGNAL_EXIT_CODES: Record<Signal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Describes the error that ended a command, in the form of `describeFailure`. */
export function describeCommandFailure(error: unknown): Failure {
  if (error instanceof Interrupted) {
    const { message, signal, requestId, resume } = error;
    const exit_code = SIGNAL_EXIT_CODES[signal];
    return { code: "INTERRUPTED", message, exit_code, request_id: requestId, hint: resume };
  }
  if (!(error instanceof UnfinishedError)) return describeFailure(error);
  const { cause, requestId, resume } = error;
  const failure = describeFailure(cause);
  const goOn = resume && describeExistingRequest(resume);
  return {
    ...failure,
    exit_code: EXIT_CODES.NOT_FINISHED,
    request_id: requestId,
    message: failure.message.includes(requestId) ? failure.message : `${requestId}: ${failure.message}`,
    hint: [failure.hint, goOn].filter(Boolean).join(" ") || undefined,
  };
}

export async function addErrorPlace(error: unknown): Promise<unknown> {
  if (!(error instanceof InvalidSettingsError) || error.text === undefined) return error;
  const { findJsonErrorPlace } = await import("./input/parse-json.js");
  return new InvalidSettingsError(error.path, `not valid JSON (${await findJsonErrorPlace(error.text)})`);
}
