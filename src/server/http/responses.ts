import { JsonText, stringifyExact } from "../../core/json/exact-json.js";
import { API_VERSION, type Data, SERVICE_CODES } from "../../core/protocol/conversation.js";
import { formatDuration } from "../../core/text/duration.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";

/** The error codes of §7, and ours for what the interface leaves open, each with its HTTP status. */
export const ERROR_STATUS = {
  ...SERVICE_CODES,
  BAD_REQUEST: 400,
  BUDGET_NOT_MEASURED: 400,
  CONVERSATION_ALREADY_FAILED: 400,
  CONVERSATION_ALREADY_STOPPED: 400,
  CONVERSATION_NOT_COMPLETED: 400,
  OUTPUT_NOT_AVAILABLE: 400,
  ORIGIN_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  MISDIRECTED_REQUEST: 421,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type HttpErrorCode = keyof typeof ERROR_STATUS;

/** An error of §7 for the client: its code, its HTTP status, its sentence. Operations and request checks throw it. */
export class HttpError extends Error {
  override name = "HttpError";
  /** Whether the hour or a budget of the key is used up. */
  isHourUsedUp = false;
  /** A detail beyond the code, for programs. */
  reason: "budget" | undefined;
  constructor(
    readonly code: HttpErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** §7, RATE_LIMIT_EXCEEDED, with `Retry-After` in seconds. `message` names the limit, or is the upstream service's own. */
export function createTooManyRequests(message: string, retryAfterMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const whole = `${message.replace(/[^.!?]$/, "$&.")} The next one is allowed in ${formatDuration(seconds * 1_000)}.`;
  return new HttpError("RATE_LIMIT_EXCEEDED", whole, { "Retry-After": String(seconds) });
}

/** The `Retry-After` while the store cannot be reached, seconds. */
const UNAVAILABLE_S = 2;

/** 503, with `Retry-After`. */
export function createUnavailable(message: string): HttpError {
  return new HttpError("SERVICE_UNAVAILABLE", message, { "Retry-After": String(UNAVAILABLE_S) });
}

/** Converts any error to an answer. Hides the message of an error that is not meant for clients. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailableError)
    return createUnavailable("The service cannot reach its store just now. Nothing was done.");
  return new HttpError("INTERNAL_ERROR", "Internal error.");
}

/** Builds the body of a success (§2, response envelope). Members of `data` may be JsonText. */
export function buildSuccessBody(data: Data): string {
  let members = "";
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue;
    // A JsonText is inserted without parsing it.
    const text = value instanceof JsonText ? value.text : stringifyExact(value);
    members += `${members && ","}${JSON.stringify(name)}:${text}`;
  }
  return `{"status":true,"version":${JSON.stringify(API_VERSION)},"data":{${members}}}`;
}

/** Builds the body of an error (§2, response envelope). */
export function buildErrorBody({ code, message, reason }: HttpError): string {
  return JSON.stringify({ status: false, version: API_VERSION, error: { message, code, reason } });
}

/** Headers of every answer: it must not be cached, or interpreted as anything but JSON. */
export const ANSWER_HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
} as const;

/** Builds the HTTP response of a success. */
export function buildSuccessResponse(data: Data): Response {
  // Sends bytes, because a socket takes several times as long to encode a long text.
  return new Response(Buffer.from(buildSuccessBody(data)), { headers: ANSWER_HEADERS });
}

/** Builds the HTTP response of an error of §7. */
export function buildErrorResponse(error: HttpError): Response {
  return new Response(buildErrorBody(error), {
    status: error.status,
    headers: { ...ANSWER_HEADERS, ...error.headers },
  });
}
