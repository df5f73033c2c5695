import { API_VERSION, SERVICE_CODES } from "../protocol/codes.js";
import type { Data } from "../protocol/data.js";

/** The codes of §7, and ours for what the interface leaves open, each with its HTTP status. */
export const REFUSALS = {
  ...SERVICE_CODES,
  BAD_REQUEST: 400,
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
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Thrown anywhere below a handler to answer with an error of §7: its code, its HTTP status, its sentence. */
export class Refusal extends Error {
  override name = "Refusal";
  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
  get status(): number {
    return REFUSALS[this.code];
  }
}

/** §2, response envelope of a success, as the text of a body. */
export function successBody(data: Data): string {
  return JSON.stringify({ status: true, version: API_VERSION, data });
}

/** §2, response envelope of an error, as the text of a body. */
export function failureBody(refusal: Refusal): string {
  const error = { message: refusal.message, code: refusal.code };
  return JSON.stringify({ status: false, version: API_VERSION, error });
}

/** Headers that every answer has: nothing here may be cached, or read as anything but JSON. */
export const ANSWER_HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
} as const;

/** A refusal as an answer. */
export function answerOf(refusal: Refusal): Response {
  return new Response(failureBody(refusal), {
    status: refusal.status,
    headers: { ...ANSWER_HEADERS, ...refusal.headers },
  });
}
