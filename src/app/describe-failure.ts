import {
  CODE_OF_REFUSAL,
  NoOutputError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../client/calls/errors.js";
import { InputError } from "../client/dialects/dialect.js";
import { InvalidSettingsError } from "../client/store/settings-file.js";
import type { RowError } from "../client/workflows/batch/batch-journal.js";
import {
  NoAccountError,
  NotRecordedError,
  QuotaExceededError,
  UnresolvedCreateError,
} from "../client/workflows/errors.js";
import { LocalError } from "../core/files/local-error.js";
import { FolderError } from "../core/files/user-folders.js";
import { BaseUrlError, ProxyError } from "../core/http/base-url-and-proxy.js";
import { DAY_MS } from "../core/protocol/rate-limits.js";
import { formatDuration, formatIsoDate } from "../core/text/time-format.js";
import { CodedError, EXIT_CODES, type Facts, type OurCode } from "./errors.js";

/** An error as the user sees it, with the fields of its JSON format. */
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

const RECORD_HINT =
  "Set RESEARCH_STATE_DIR to a folder that can be written, or RESEARCH_NO_HISTORY=1 to continue without a history.";

/** Converts any error to a code, a sentence and an exit code. No other function does that. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CodedError)
    return { ...buildFailure(error.code, error.message), ...pickJsonFacts(error.facts) };
  if (error instanceof NoAccountError) {
    const all = error.reasons.map(({ name, error: reason }) => `${name}: ${explainError(reason)}`);
    return { ...describeFailure(error.cause), message: all.join("; ") };
  }
  if (error instanceof InputError) return buildFailure("USAGE", error.message, error.hint);
  if (error instanceof UnresolvedCreateError) return describeUnresolvedCreate(error);
  if (error instanceof ResearchError) return describeServiceError(error);
  if (error instanceof QuotaExceededError) return describeQuotaError(error);
  if (error instanceof NotRecordedError) return buildFailure("LOCAL_IO", error.message, RECORD_HINT);
  if (error instanceof ProxyError) return buildFailure("USAGE", error.message, error.hint);
  if (error instanceof BaseUrlError || error instanceof FolderError)
    return buildFailure("USAGE", error.message);
  if (error instanceof InvalidSettingsError)
    return buildFailure("LOCAL_IO", error.message, "Correct the file, or remove it to start afresh.");
  if (error instanceof LocalError) return buildFailure("LOCAL_IO", error.message);
  const hint = "This is a defect of this program; --verbose shows where it is.";
  return buildFailure("INTERNAL", String(error), hint);
}

/** Returns the message of an error without its full stop, for a sentence that goes on. */
export function explainError(error: unknown): string {
  return describeFailure(error).message.replace(/\.$/, "");
}

function buildFailure(code: OurCode, message: string, hint?: string): Failure {
  return { code, message, exit_code: EXIT_CODES[code], hint };
}

function pickJsonFacts({ httpStatus, requestId, localId, retryAfter, hint }: Facts): Partial<Failure> {
  const ids = { request_id: requestId, local_id: localId };
  return { http_status: httpStatus, ...ids, retry_after: retryAfter, hint };
}

function describeServiceError(error: ResearchError): Failure {
  const { code, message, hint = chooseHint(error) } = error;
  return { code, message, exit_code: EXIT_CODES[classifyErrorKind(error)], ...pickJsonFacts(error), hint };
}

function describeUnresolvedCreate(error: UnresolvedCreateError): Failure {
  const { localId, notSaved, requestId } = error;
  const name = requestId === undefined ? "" : ` as ${requestId}`;
  const kept = localId
    ? `The outcome is recorded as unknown. To settle it, run: research resolve ${localId} --request-id ${requestId ?? "ID"}, or --not-created.`
    : `The request is in no history; look for it${name} where the service lists requests.`;
  return {
    ...describeServiceError(error),
    local_id: localId,
    hint: notSaved ? `${kept} ${notSaved.message}` : kept,
  };
}

function describeQuotaError({ limit, retryAfter, until, day }: QuotaExceededError): Failure {
  const wait = formatDuration(retryAfter * 1_000);
  const records = `is reached, as counted by this machine; the next one is allowed in ${wait}`;
  const account = day && `${day.origin}${day.profile === null ? "" : ` (profile ${day.profile})`}`;
  const message = day
    ? `the limit of ${limit} creates in 24 hours at ${account}, set by ${day.source}, ${records}, at ${formatIsoDate(until)}`
    : `the hourly limit of ${limit} create requests ${records}`;
  const code = day ? "DAY_LIMIT" : "RATE_LIMITED";
  return { ...buildFailure(code, message, `Nothing was sent. ${WAITS}`), retry_after: retryAfter };
}

/** Names the commands, because other commands that show this error do not have the flag. */
const WAITS = "With --wait-for-quota, create, run and rerun wait.";

function classifyErrorKind(error: ResearchError): OurCode {
  if (error instanceof RefusedError) return CODE_OF_REFUSAL[error.kind];
  if (error instanceof UnreachableError) return "UNREACHABLE";
  if (error instanceof NoOutputError || error.code in EXIT_CODES) return error.code as OurCode;
  return "INTERNAL";
}

function chooseHint(error: ResearchError): string | undefined {
  if (!(error instanceof RefusedError)) return undefined;
  if (error.kind === "no-credit")
    return "Add credit at the provider, then run the command again, or use another account with -p NAME.";
  if (error.kind === "unauthenticated")
    return isKeyRefusal(error)
      ? "Check the key: `research config list` shows which key was used. To store another key, run `research login PROVIDER`, or `research login` for your own service."
      : undefined;
  if (error.kind !== "rate-limited") return undefined;
  const { retryAfter } = error;
  if (retryAfter === undefined) return WAITS;
  const waitMs = retryAfter * 1_000;
  // No command waits longer than a day, so do not suggest that.
  return `Wait ${formatDuration(waitMs)}.${waitMs > DAY_MS ? "" : ` ${WAITS}`}`;
}

/** Returns whether a refusal is about the key: its text names the key, or it has no text. */
function isKeyRefusal({ code, message, enveloped }: RefusedError): boolean {
  const isWordless = !enveloped && /^HTTP \d+ for \S+ \S+$/.test(message);
  return (
    isWordless ||
    /key|token|credential|authenticat|unauthori[sz]ed/i.test(`${code} ${message}`.replace(/^NOT_\w+/, ""))
  );
}

/** Returns the parts of a failure that a batch keeps with its row. */
export function describeRowError(error: unknown): RowError {
  const { code, message, exit_code, http_status, hint } = describeFailure(error);
  return { code, message, exit_code, ...(http_status && { http_status }), ...(hint && { hint }) };
}

/** Returns what an error from the login's test request means for the key. */
export function classifyLoginError(
  error: ResearchError,
  isProvider: boolean,
): "refused" | "valid" | "no-answer" | "not-the-service" {
  if (error instanceof RefusedError) {
    const { httpStatus, code, kind } = error;
    const isSaid = kind === "unauthenticated" && httpStatus !== 403;
    if (httpStatus === 401 || code === "INVALID_API_KEY" || isSaid) return "refused";
  }
  // Any other error in an envelope, even a 403, comes from a service that accepts the key (contract §2).
  const enveloped = error instanceof RefusedError ? error.enveloped : !(error.code in EXIT_CODES);
  // Providers do not document their 5xx, so a 5xx does not show whether the key is valid.
  if (enveloped && !(isProvider && (error.httpStatus ?? 0) >= 500)) return "valid";
  return error.httpStatus === undefined && error.code === "UNREACHABLE" ? "no-answer" : "not-the-service";
}
