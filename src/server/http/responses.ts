import { JsonText, stringifyExact } from "../../core/json/exact-json.js";
import { API_VERSION, type Data, SERVICE_CODES } from "../../core/protocol/conversation.js";
import { formatDuration } from "../../core/text/time-format.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";

/** The HTTP status of each error code: the codes of §7, and our own for what the interface leaves open. */
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

/** Thrown by operations and request checks to answer with this code, HTTP status, message and headers (§7). */
export class HttpError extends Error {
  override name = "HttpError";
  /** Whether the request was refused because its key's hourly limit or a budget is used up. */
  isHourUsedUp = false;
  /** A detail for programs, in addition to the code. */
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

/** Creates RATE_LIMIT_EXCEEDED (§7) with `Retry-After`. `message` names the limit, or comes from the upstream service. */
export function createTooManyRequests(message: string, retryAfterMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const whole = `${message.replace(/[^.!?]$/, "$&.")} The next one is allowed in ${formatDuration(seconds * 1_000)}.`;
  return new HttpError("RATE_LIMIT_EXCEEDED", whole, { "Retry-After": String(seconds) });
}

/** The `Retry-After` while the store cannot be reached, in seconds. */
const UNAVAILABLE_S = 2;

/** Creates a 503 with `Retry-After`. */
export function createUnavailable(message: string): HttpError {
  return new HttpError("SERVICE_UNAVAILABLE", message, { "Retry-After": String(UNAVAILABLE_S) });
}

/** Converts any error to one for the client, and hides the message of an error that is not meant for clients. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailableError)
    return createUnavailable("The service cannot reach its store just now. Nothing was done.");
  return new HttpError("INTERNAL_ERROR", "Internal error.");
}

/** Builds the body of a successful answer (§2). Members of `data` may be JsonText. */
export function buildSuccessBody(data: Data): string {
  let members = "";
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue;
    // A JsonText is inserted as it is, without parsing.
    const text = value instanceof JsonText ? value.text : stringifyExact(value);
    members += `${members && ","}${JSON.stringify(name)}:${text}`;
  }
  return `{"status":true,"version":${JSON.stringify(API_VERSION)},"data":{${members}}}`;
}

/** Builds the body of an error answer (§2). */
export function buildErrorBody({ code, message, reason }: HttpError): string {
  return JSON.stringify({ status: false, version: API_VERSION, error: { message, code, reason } });
}

/** Headers of every answer: caches must not store it, and browsers must read it as nothing but JSON. */
export const ANSWER_HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
} as const;

/** Builds the HTTP response of a successful operation. */
export function buildSuccessResponse(data: Data): Response {
  // Send bytes, because a socket takes several times as long to encode a long text.
  return new Response(Buffer.from(buildSuccessBody(data)), { headers: ANSWER_HEADERS });
}

/** Builds the HTTP response of an error of §7. */
export function buildErrorResponse(error: HttpError): Response {
  return new Response(buildErrorBody(error), {
    status: error.status,
    headers: { ...ANSWER_HEADERS, ...error.headers },
  });
}
