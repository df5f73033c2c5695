import * as does from "../support/behaviours.js";
import { ID, OTHER_ID, type Play, plays, ways } from "./plays.js";

/**
 * What a command does about a fault.
 * - `R 9`: four tries, then 9. A number: that exit code, at once.
 * - `U`: unknown, 11, sent once, in the history. `created`: recorded, 0.
 * - `ask`, `ask R`: a stop looks at the state, after the one try or after each of four, and STOPPED is success;
 *   `ask 6`: anything else is 6.
 * - `K`: the watch goes on; `5, K`: it ends with 5 until the service has answered once, `first 9, K`: on the
 *   very first poll only.
 */
export interface Cells {
  /** The `code` in JSON of whatever exit code is not 0 or 11. */
  code?: string;
  /** What the message or the hint has to say. */
  says?: RegExp;
  /** `retry_after` in JSON; null for none. */
  wait?: number | null;
  create?: "R 9" | "U" | "created" | number;
  stop?: "R 9" | "ask" | "ask R" | "ask 2" | "ask 6" | number;
  status?: "R 9" | "shown" | number;
  /** Default: as the status; null where it is no fault. */
  output?: "R 9" | "shown" | number | null;
  watch?: "K" | `${number}, K` | `first ${number}, K` | number;
}

export interface Row extends Cells {
  fault: string;
  play: Play;
}

const row = (fault: string, play: Play, ...cells: Cells[]): Row => Object.assign({ fault, play }, ...cells);

const [UNREACHABLE, BAD, RATE] = ["UNREACHABLE", "BAD_RESPONSE", "RATE_LIMIT_EXCEEDED"];
const never: Cells = { code: UNREACHABLE, create: "R 9", stop: "R 9", status: "R 9", watch: "K" };
const wrong: Cells = { code: UNREACHABLE, create: 9, stop: 9, status: 9, watch: "first 9, K" };
const lost: Cells = { code: UNREACHABLE, create: "U", stop: "ask R", status: "R 9", watch: "K" };
const torn: Cells = { code: BAD, create: "U", stop: "ask", status: "R 9", watch: "K" };
const oversized: Cells = { code: BAD, create: "U", stop: "ask", status: 9, watch: "K" };
const rate: Cells = { code: RATE, create: 7, stop: 7, status: 7, watch: "K" };
const all = (exit: number): Cells => ({ create: exit, stop: exit, status: exit, watch: exit });

const { always } = plays;
const refused = (status: number, code: string) => always(does.refuse(status, code));
const limited = (retryAfter: string) => always(does.refuse(429, RATE ?? "", { "retry-after": retryAfter }));
const ELSEWHERE = "http://127.0.0.2:9/elsewhere";
const namesTarget = /127\.0\.0\.2:9\/elsewhere/;
const namesMethod = /GET .*(status|output)-method/s;

export const ROWS: readonly Row[] = [
  row("refused", ways.refused, never),
  row("DNS EAI_AGAIN", ways.lookup("EAI_AGAIN"), never),
  row("connect timeout", ways.lookup("never"), never),
  row("host unreachable", ways.lookup("EHOSTUNREACH"), never),
  row("network unreachable", ways.lookup("ENETUNREACH"), never),
  row("reset on accept", ways.resetOnAccept, never),

  row("DNS ENOTFOUND", ways.lookup("ENOTFOUND"), wrong),
  row("TLS to what speaks none", ways.noTls, wrong),
  row("a certificate nobody signed", ways.selfSigned, wrong),
  row("the proxy refuses CONNECT", ways.proxyRefuses, wrong),

  row("reset while sending", always(does.reset("head")), lost),
  row("reset after the whole body", always(does.reset("body")), lost),
  row("closed after the whole body", always(does.close()), lost),
  row("no answer", plays.hang, lost),

  row("body cut short of its length", plays.cut(20), torn),
  row("body reset short of its length", plays.cut(20, "reset"), torn),
  row("body of no length cut short", plays.cut(20, "end", "none"), torn),
  row("garbage status line", always(does.raw("HTTP/9.9 banana\r\n\r\n")), torn),
  row("no HTTP at all", always(does.raw("220 smtp.example ESMTP ready\r\n")), torn),

  row("200 and nothing", always(does.answer({})), torn),
  row("204", always(does.answer({ status: 204 })), torn),
  row("200 HTML", always(does.html(200)), torn),
  row("200 no JSON", always(does.answer({ body: "ok" })), torn),
  row("200 no envelope", always(does.answer({ body: '{"ok":1}' })), torn),
  row("200 an array", always(does.answer({ body: "[]" })), torn),
  row("200 without its data", always(does.ok({ created_at: "x" })), torn, { output: "shown" }),
  row("200 with an invalid id", always(does.ok({ request_id: "../x" })), { create: "U" }),

  row("200 status:false VALIDATION_ERROR", refused(200, "VALIDATION_ERROR"), all(2), {
    code: "VALIDATION_ERROR",
    stop: "ask 2",
  }),
  row("200 status:false INVALID_API_KEY", refused(200, "INVALID_API_KEY"), all(4), {
    code: "INVALID_API_KEY",
  }),
  row("200 status:false REQUEST_NOT_FOUND", refused(200, "REQUEST_NOT_FOUND"), all(5), {
    code: "REQUEST_NOT_FOUND",
  }),
  row("200 status:false TEAPOT", refused(200, "TEAPOT"), all(6), { code: "TEAPOT", stop: "ask 6" }),
  row("200 status:false RATE_LIMIT_EXCEEDED", refused(200, "RATE_LIMIT_EXCEEDED"), rate),

  row("400 VALIDATION_ERROR", refused(400, "VALIDATION_ERROR"), { code: "VALIDATION_ERROR", create: 2 }),
  ...["ALREADY_COMPLETED", "ALREADY_FAILED", "ALREADY_STOPPED", "OF_NO_KNOWN_KIND"].map((end) =>
    row(`400 CONVERSATION_${end}`, refused(400, `CONVERSATION_${end}`), {
      code: `CONVERSATION_${end}`,
      stop: "ask 6",
    }),
  ),
  row("401", refused(401, "INVALID_API_KEY"), all(4), { code: "INVALID_API_KEY" }),
  row("401 bare", always(does.html(401)), all(4), { code: "NOT_AUTHENTICATED" }),
  row("403", refused(403, "FORBIDDEN"), all(4), { code: "FORBIDDEN" }),
  row("403 bare", always(does.html(403)), all(4), { code: "NOT_AUTHENTICATED" }),
  row("404 REQUEST_NOT_FOUND", refused(404, "REQUEST_NOT_FOUND"), {
    code: "REQUEST_NOT_FOUND",
    stop: 5,
    status: 5,
    watch: 5,
  }),
  row("404 HTML", always(does.html(404)), {
    code: "NOT_FOUND",
    says: /base URL/,
    create: 5,
    stop: 5,
    status: 5,
    watch: "5, K",
  }),
  row("405", always(does.html(405)), { code: BAD, says: namesMethod, status: 9, watch: "9, K" }),
  row("405 to what is no read", always(does.html(405)), { code: BAD, create: 9, stop: "ask" }),
  row("405 in an envelope", refused(405, "METHOD_NOT_ALLOWED"), {
    code: "METHOD_NOT_ALLOWED",
    says: namesMethod,
    status: 9,
    watch: "9, K",
  }),
  ...[408, 409, 421, 425, 499].map((status) => row(`${status} bare`, always(does.html(status)), torn)),
  ...[408, 409, 425, 499].map((status) =>
    row(`${status} in an envelope`, refused(status, "NO"), torn, { code: "NO" }),
  ),
  ...[402, 410, 418, 422].map((status) =>
    row(`${status} bare`, always(does.html(status)), torn, { create: 9, watch: "9, K" }),
  ),
  ...[413, 414, 431].map((status) =>
    row(`${status}`, always(does.html(status)), all(2), { code: "USAGE", watch: "2, K" }),
  ),
  ...[402, 410, 418, 421, 422].map((status) =>
    row(`${status} in an envelope`, refused(status, "NO"), all(6), { code: "NO", stop: "ask 6" }),
  ),

  row("429", refused(429, "RATE_LIMIT_EXCEEDED"), rate, { wait: null }),
  row("429 Retry-After: 7", limited("7"), rate, { wait: 7, says: /\b7s\b/ }),
  row("429 Retry-After as a date", plays.retryDate(429, 20), rate),
  row("429 Retry-After: 99999999999", limited("99999999999"), rate, { wait: 9_000_000_000 }),
  row("429 Retry-After: -5", limited("-5"), rate, { wait: null }),
  row("429 Retry-After: soon", limited("soon"), rate, { wait: null }),
  row("429 bare", always(does.html(429)), rate, { code: "RATE_LIMITED" }),

  ...[500, 502, 503, 504, 599].map((status) => row(`${status}`, always(does.html(status)), lost)),
  row("500 in an envelope", refused(500, "OOPS"), lost, { code: "OOPS" }),
  row("503 Retry-After: 1", always(does.html(503, { "retry-after": 1 })), lost, { wait: 1 }),
  row("503 Retry-After: 3600", always(does.html(503, { "retry-after": 3600 })), lost, {
    wait: 3600,
    stop: "ask",
    status: 9,
  }),
  ...[300, 301, 302, 304, 307, 308].map((status) =>
    row(`${status}`, always(does.redirect(status, ELSEWHERE)), all(9), {
      code: BAD,
      says: namesTarget,
      watch: "9, K",
    }),
  ),
  row("303", always(does.redirect(303, ELSEWHERE)), all(9), {
    code: BAD,
    says: namesTarget,
    create: "U",
    watch: "9, K",
  }),

  row("a status nobody knows", always(does.ok({ request_id: ID, status: "PONDERING" })), {
    create: "created",
    status: "shown",
  }),
  row("another request_id than asked", always(does.ok({ request_id: OTHER_ID, status: "STOPPED" })), {
    code: BAD,
    create: "created",
    stop: 9,
    status: 9,
    watch: "K",
  }),
  row("huge body", always(does.huge()), oversized),
  row("gzip bomb", always(does.gzipBomb()), oversized),
  row("JSON nested 50,000 deep", always(does.nested()), oversized),
  // Whether it drips or is silent cannot be told before its headers are whole.
  row("slow drip of headers", plays.drip("head"), lost),
  row("slow drip of the body", plays.drip("body"), torn),
];
