import {
  NoOutputError,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../client/errors.js";
import { BaseUrlError } from "../client/http/address.js";
import { LocalError } from "../store/errors.js";
import { FolderError } from "../store/folders.js";
import { CliError, EXIT_CODES, Interrupted, type OurCode, SIGNAL_EXIT_CODES } from "./errors.js";

/** What a user is told of an error, in the words of the JSON form. */
export interface Failure {
  code: string;
  message: string;
  exit_code: number;
  http_status?: number | undefined;
  request_id?: string | undefined;
  local_id?: string | undefined;
  retry_after?: number | undefined;
  hint?: string | undefined;
}

const REFUSALS: Record<RefusalKind, OurCode> = {
  "invalid-input": "USAGE",
  unauthenticated: "NOT_AUTHENTICATED",
  "not-found": "NOT_FOUND",
  refused: "NOT_ALLOWED",
  "rate-limited": "RATE_LIMITED",
};

/** The one place where an error becomes a code, a sentence and an exit code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { hint, httpStatus, requestId, localId, retryAfter } = error.facts;
    return {
      ...ours(error.code, error.message),
      http_status: httpStatus,
      request_id: requestId,
      local_id: localId,
      retry_after: retryAfter,
      hint,
    };
  }
  if (error instanceof ResearchError) return ofService(error);
  if (error instanceof BaseUrlError || error instanceof FolderError) return ours("USAGE", error.message);
  if (error instanceof LocalError) return ours("LOCAL_IO", error.message);
  if (error instanceof Interrupted) {
    const { message, signal, resume } = error;
    return { code: "INTERRUPTED", message, exit_code: SIGNAL_EXIT_CODES[signal], hint: resume };
  }
  return {
    ...ours("INTERNAL", String(error)),
    hint: "This is a defect of this program; --verbose shows where it is.",
  };
}

function ours(code: OurCode, message: string): Failure {
  return { code, message, exit_code: EXIT_CODES[code] };
}

function ofService(error: ResearchError): Failure {
  return {
    code: error.code,
    message: sentence(error),
    exit_code: EXIT_CODES[kindOf(error)],
    http_status: error.httpStatus,
    request_id: error.requestId,
    retry_after: error.retryAfter,
    hint: error.hint ?? hintFor(error),
  };
}

function kindOf(error: ResearchError): OurCode {
  if (error instanceof RefusedError) return REFUSALS[error.kind];
  if (error instanceof OutcomeUnknownError) return "OUTCOME_UNKNOWN";
  if (error instanceof UnreachableError) return "UNREACHABLE";
  if (error instanceof NoOutputError || error.code in EXIT_CODES) return error.code as OurCode;
  return "INTERNAL";
}

function sentence(error: ResearchError): string {
  if (error instanceof OutcomeUnknownError) {
    return `the request was sent and no readable answer came back, so it may or may not exist (${error.message})`;
  }
  if (error instanceof RefusedError && error.kind === "rate-limited") {
    const wait = error.retryAfter === undefined ? "" : `; the next is allowed in ${error.retryAfter} s`;
    return `the hourly limit is reached: ${error.message}${wait}`;
  }
  return error.message;
}

function hintFor(error: ResearchError): string | undefined {
  if (!(error instanceof RefusedError)) return undefined;
  if (error.kind === "unauthenticated")
    return "Check the key: `research config list` shows which one was used, `research login` stores another.";
  return undefined;
}
