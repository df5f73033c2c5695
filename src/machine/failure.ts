import {
  NoOutputError,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../client/errors.js";
import { BaseUrlError } from "../client/http/address.js";
import { InputError } from "../dialects/dialect.js";
import { InvalidSettingsError, LocalError } from "../store/errors.js";
import { FolderError } from "../store/folders.js";
import { formatDuration, formatLimit, isoDate } from "../text/duration.js";
import { RowTimeoutError, SlotTimeoutError } from "../workflows/batch/errors.js";
import type { RowError } from "../workflows/batch/folder/journal.js";
import {
  NotRecordedError,
  QuotaExceededError,
  TargetError,
  UnresolvedCreateError,
} from "../workflows/errors.js";
import { CodedError, EXIT_CODES, type OurCode } from "./errors.js";

/** What a user reads of an error, in the fields of the JSON form. */
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

const CODE_OF_REFUSAL: Record<RefusalKind, OurCode> = {
  "invalid-input": "USAGE",
  unauthenticated: "NOT_AUTHENTICATED",
  "not-found": "NOT_FOUND",
  refused: "NOT_ALLOWED",
  "rate-limited": "RATE_LIMITED",
  "no-credit": "NO_CREDIT",
};

const RECORD_HINT =
  "Set RESEARCH_STATE_DIR to a folder that can be written, or RESEARCH_NO_HISTORY=1 to go on without a record.";

const TARGETS: Record<TargetError["kind"], { code: OurCode; hint: string }> = {
  invalid: {
    code: "USAGE",
    hint: "An id is made of letters, digits, `.`, `_`, `:` and `-`; `research list` shows those made here, @last is the newest.",
  },
  ambiguous: { code: "USAGE", hint: "Give more of it." },
  "none-created": { code: "NOT_FOUND", hint: "`research list` shows what was created." },
  "not-created": { code: "NOT_FOUND", hint: "`research rerun` sends it." },
  "not-recorded": { code: "NOT_FOUND", hint: "`research list` shows what is." },
};

/** The one place where an error becomes a code, a sentence and an exit code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CodedError) {
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
  if (error instanceof InputError) return { ...ours("USAGE", error.message), hint: error.hint };
  if (error instanceof UnresolvedCreateError) return ofUnresolved(error);
  if (error instanceof ResearchError) return ofService(error);
  if (error instanceof QuotaExceededError) return ofQuota(error);
  if (error instanceof TargetError)
    return { ...ours(TARGETS[error.kind].code, error.message), hint: TARGETS[error.kind].hint };
  if (error instanceof NotRecordedError) return { ...ours("LOCAL_IO", error.message), hint: RECORD_HINT };
  if (error instanceof BaseUrlError || error instanceof FolderError) return ours("USAGE", error.message);
  if (error instanceof InvalidSettingsError)
    return {
      ...ours("LOCAL_IO", error.message),
      hint: "Correct the file, or remove it to start afresh.",
    };
  if (error instanceof LocalError) return ours("LOCAL_IO", error.message);
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
    message: sentenceOf(error),
    exit_code: EXIT_CODES[kindOf(error)],
    http_status: error.httpStatus,
    request_id: error.requestId,
    retry_after: error.retryAfter,
    hint: error.hint ?? hintFor(error),
  };
}

/** The time limits of a batch say how long they were. */
function sentenceOf(error: ResearchError): string {
  if (error instanceof RowTimeoutError) {
    const what = error.limit === "whole" ? "not finished" : "still in the queue";
    return `${error.requestId} is ${what} after ${formatLimit(error.timeoutMs)}`;
  }
  if (error instanceof SlotTimeoutError)
    return `the hourly limit is reached, and the next create is allowed at ${isoDate(error.until)}, after the ${formatLimit(error.timeoutMs)} of --timeout`;
  return error.message;
}

function ofUnresolved(error: UnresolvedCreateError): Failure {
  const { localId, notSaved } = error;
  const kept = localId
    ? `It is kept as unknown; settle it: research resolve ${localId} --request-id ID, or --not-created.`
    : "It is in no history; look for it where the service lists requests.";
  return { ...ofService(error), local_id: localId, hint: notSaved ? `${kept} ${notSaved.message}` : kept };
}

function ofQuota({ limit, retryAfter }: QuotaExceededError): Failure {
  const wait = formatDuration(retryAfter * 1_000);
  return {
    ...ours(
      "RATE_LIMITED",
      `the hourly limit of ${limit} is used up by this machine's own records; the next create is allowed in ${wait}`,
    ),
    retry_after: retryAfter,
    hint: "Nothing was sent. --wait-for-quota waits instead.",
  };
}

function kindOf(error: ResearchError): OurCode {
  if (error instanceof RefusedError) return CODE_OF_REFUSAL[error.kind];
  if (error instanceof OutcomeUnknownError) return "OUTCOME_UNKNOWN";
  if (error instanceof UnreachableError) return "UNREACHABLE";
  if (error instanceof NoOutputError || error.code in EXIT_CODES) return error.code as OurCode;
  return "INTERNAL";
}

function hintFor(error: ResearchError): string | undefined {
  if (!(error instanceof RefusedError)) return undefined;
  if (error.kind === "unauthenticated")
    return "Check the key: `research config list` shows which one was used, `research login` stores another.";
  if (error.kind !== "rate-limited") return undefined;
  const wait = error.retryAfter === undefined ? "" : `Wait ${formatDuration(error.retryAfter * 1_000)}. `;
  return `${wait}create, run and rerun wait by themselves with --wait-for-quota.`;
}

/** The part of a failure that is kept with its row of a batch. */
export function rowError(error: unknown): RowError {
  const { code, message, exit_code, http_status, hint } = failureOf(error);
  return { code, message, exit_code, ...(http_status && { http_status }), ...(hint && { hint }) };
}
