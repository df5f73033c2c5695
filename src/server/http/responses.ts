import { JsonText } from "../../json/exact-json.js";
import type { Data } from "../../protocol/conversation.js";
import { API_VERSION } from "../../protocol/envelope.js";
import { jsonOfObject } from "../json-text.js";
import type { ServiceError } from "./service-error.js";

/** §2, response envelope of a success, as the text of a body. Members of `data` may be JsonText. */
export function successBody(data: Data): string {
  return jsonOfObject({ status: true, version: API_VERSION, data: new JsonText(jsonOfObject(data)) });
}

/** §2, response envelope of an error, as the text of a body. */
export function errorBody({ code, message }: ServiceError): string {
  return JSON.stringify({ status: false, version: API_VERSION, error: { message, code } });
}

/** Headers that every answer has: nothing here may be cached, or read as anything but JSON. */
export const ANSWER_HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
} as const;

/** The HTTP response of a success. */
export function successResponse(data: Data): Response {
  return new Response(successBody(data), { headers: ANSWER_HEADERS });
}

/** The HTTP response of an error of §7. */
export function errorResponse(error: ServiceError): Response {
  return new Response(errorBody(error), {
    status: error.status,
    headers: { ...ANSWER_HEADERS, ...error.headers },
  });
}
