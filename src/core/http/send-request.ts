import type { Dispatcher } from "undici";
import { onAbort } from "../clock.js";
import { type ProxyAddress, ProxyRefusedError } from "./base-url-and-proxy.js";

/** The ways in which an exchange fails, distinguished by what a caller may do next. None is an answer of the service. */
export type ConnectionFault = "unreachable" | "unconnectable" | "lost" | "timeout" | "torn" | "oversized";

export interface WireRequest {
  /** Scheme, host and port of the service, even behind a proxy. */
  origin: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface ExchangeLimits {
  /** The time to connect and answer, ms; with `perPiece`, for the headers and then for each 64 KiB of the body. */
  timeout: number;
  perPiece: boolean;
  /** The time for the whole exchange, ms, even while data arrives. */
  total?: number | undefined;
  /** The largest body as received, in bytes. A larger one ends the exchange. */
  maxBytes: number;
  /** Ends the exchange when aborted: at once, or after `grace` ms, if the answer is worth the wait. */
  signal?: AbortSignal | undefined;
  grace?: number;
}

/** Headers with names in lower case. A header that came several times is a list. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpAnswer {
  kind: "answer";
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface RequestFailure {
  kind: "failure";
  fault: ConnectionFault;
  message: string;
  /** Whether the request's headers were written; false proves that the service never saw the request. */
  sent: boolean;
  /** The headers and body that arrived before the failure, for salvage. */
  headers: Headers;
  body: Buffer;
}

/** The bytes of a body that must arrive within each `timeout` (contract §5). */
const LEAST_BYTES = 65_536;

/** Sends one request and resolves with the answer or the failure. Never rejects, follows redirects or retries. */
export function sendRequest(
  dispatcher: Dispatcher,
  request: WireRequest,
  limits: ExchangeLimits,
): Promise<HttpAnswer | RequestFailure> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let sent = false;
    let isOver = false;
    let status = 0;
    let size = 0;
    let sizeInTime = 0;
    let events = 0;
    let headers: Headers = {};
    const pieces: Buffer[] = [];

    const finish = (failure?: { fault: ConnectionFault; message: string }) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(end);
      release();
      const [first] = pieces;
      const body = first && pieces.length === 1 ? first : Buffer.concat(pieces);
      resolve(
        failure
          ? { kind: "failure", ...failure, sent, headers, body }
          : { kind: "answer", status, headers, body },
      );
      if (failure) controller?.abort(new Error(failure.message));
    };
    const giveUp = () =>
      finish(
        pieces.length > 0 || status > 0
          ? { fault: "torn", message: "the answer did not end in time" }
          : { fault: sent ? "timeout" : "unreachable", message: "no answer came in time" },
      );
    // After a suspend, the timer fires before Node reads the socket, which may contain the answer.
    const expire = () => giveUpWhenIdle(() => events, giveUp);
    const interrupt = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, limits.grace ?? 0);
    };
    let timer = setTimeout(expire, limits.timeout);
    const end = limits.total === undefined ? undefined : setTimeout(expire, limits.total);
    const release = onAbort(limits.signal, interrupt);

    dispatcher.dispatch(request as Dispatcher.DispatchOptions, {
      // undici calls this just before it writes the first byte of the headers (writeH1 in client-h1.js), where it also
      // publishes to the diagnostics channel `undici:client:sendHeaders`. The number of bytes written is less reliable:
      // while it is 0, a write may have begun.
      onRequestStart(started) {
        controller = started;
        if (isOver) started.abort(new Error("given up before it was sent"));
        else sent = true;
      },
      onResponseStart(_controller, statusCode, raw) {
        events++;
        // Ignore an interim response (RFC 9110 §15.2), because the final one follows.
        if (statusCode < 200) return;
        status = statusCode;
        headers = raw;
        if (limits.perPiece) timer.refresh();
      },
      onResponseData(_controller, piece) {
        events++;
        size += piece.length;
        if (size > limits.maxBytes) return finish({ fault: "oversized", message: "the answer is too large" });
        pieces.push(piece);
        // A slow line may take longer, but a peer that sends single bytes must not hold the connection for ever.
        if (!limits.perPiece || size - sizeInTime < LEAST_BYTES) return;
        sizeInTime = size;
        timer.refresh();
      },
      onResponseEnd() {
        finish();
      },
      onResponseError(_controller, error) {
        finish({
          fault: classifyTransportError(error, sent, status > 0),
          message: describeTransportError(error),
        });
      },
    });
  });
}

/** How long after the timeout to read an answer that had arrived before, ms. */
const LAST_READ_MS = 1_000;

/** Calls `giveUp` when IDLE_ROUNDS rounds of the event loop have read nothing, or after LAST_READ_MS. `events` counts reads. */
function giveUpWhenIdle(events: () => number, giveUp: () => void): void {
  const end = performance.now() + LAST_READ_MS;
  const round = (before: number, idle: number) => {
    if (idle > IDLE_ROUNDS || performance.now() > end) return giveUp();
    setImmediate(() => round(events(), events() === before ? idle + 1 : 0));
  };
  round(events(), 0);
}

/** The rounds of the event loop without a read to wait for. TLS and a tunnel each take one to pass on what they have read. */
const IDLE_ROUNDS = 4;

/** Returns the value of a header as one text; undefined if the header is absent. */
export function getHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The longest wait in seconds, about 285 years. Its sum with any current date is still a valid date. */
const MAX_SECONDS = 9_000_000_000;
/** From these values on, a number is a moment in epoch seconds or ms, which some services send; as seconds to wait it would be 31 years. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** Reads `Retry-After` in either form as whole seconds from `now` (epoch ms); undefined if it is missing, past or invalid. */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const text = getHeader(headers, "retry-after")?.trim() ?? "";
  const at = parseResponseDate(headers, now);
  if (/^\d+(\.\d+)?$/.test(text)) return parseSecondsToWait(Number(text), at);
  // Accept only date forms of RFC 9110, which begin with letters: Date.parse would read "-5" as a year.
  const until = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return until > at ? Math.ceil((until - at) / 1_000) : undefined;
}

/**
 * Returns the date of an answer, epoch ms, as the base of the moments in it: its `Date` header, because the service's clock may
 * differ; `now` (epoch ms) without that header, or within the same second, because the header has no milliseconds.
 */
export function parseResponseDate(headers: Headers, now: number): number {
  const date = Date.parse(getHeader(headers, "date") ?? "");
  return Number.isNaN(date) || (now >= date && now < date + 1_000) ? now : date;
}

/** Converts a number of seconds, or a moment in epoch seconds or ms, to whole seconds from `now` (epoch ms); undefined if it is past. */
export function parseSecondsToWait(count: number, now: number): number | undefined {
  if (count < EPOCH_SECONDS) return Math.ceil(count);
  const ms = (count < EPOCH_MS ? count * 1_000 : count) - now;
  return ms > 0 ? Math.min(Math.ceil(ms / 1_000), MAX_SECONDS) : undefined;
}

/** Words for system errors by code. `lasts`: a retry would fail in the same way. */
const CAUSES: readonly { code: RegExp; words: string; lasts?: true }[] = [
  { code: /^ENOTFOUND$/, words: "its name was not found", lasts: true },
  { code: /^EAI_AGAIN$/, words: "its name could not be looked up" },
  { code: /^ECONNREFUSED$/, words: "the connection was refused" },
  { code: /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, words: "the connection was closed" },
  { code: /TIMEDOUT$|TIMEOUT$/, words: "the connection timed out" },
  { code: /UNREACH$/, words: "the network has no route to it" },
  {
    code: /^(?:CERT_|ERR_TLS_CERT|HOSTNAME_MISMATCH|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|CRL_)/,
    words: "its certificate is not trusted",
    lasts: true,
  },
  { code: /^(?:EPROTO|ERR_SSL|ERR_TLS)/, words: "a secure connection failed", lasts: true },
];

function findKnownCause(error: Error) {
  return CAUSES.find(({ code }) => "code" in error && code.test(String(error.code)));
}

/** Describes an error with our words for its code and the message of the system. */
function describeTransportError(error: Error): string {
  const message = (error.message || describeConnectFailure(error))
    .replace(/\s+/g, " ")
    // OpenSSL's form: thread, codes, library, function, reason, place in its source code.
    .replace(/^\w+:error:\w+:[^:]*:[^:]*:([^:]*):.*$/, "$1")
    .trim();
  if (message === "wrong version number") return "it does not use TLS: is its address http://?";
  const { words } = findKnownCause(error) ?? {};
  return words ? `${words} (${message})` : message;
}

/** Returns why a connection failed. For an AggregateError (several addresses) returns the reason of the first address. */
export function describeConnectFailure(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}

/** Turns status 407 into a failure to connect, because it comes from the proxy and nothing has reached the service. */
export function convertProxy407ToFailure(
  answer: HttpAnswer | RequestFailure,
  proxy: ProxyAddress | undefined,
): HttpAnswer | RequestFailure {
  if (!proxy || answer.kind !== "answer" || answer.status !== 407) return answer;
  const { headers, body } = answer;
  return {
    kind: "failure",
    fault: "unconnectable",
    message: new ProxyRefusedError(407).message,
    sent: false,
    headers,
    body,
  };
}

/** Classifies a transport error. `sent`: the headers of the request were written. `answering`: those of the answer were read. */
function classifyTransportError(error: Error, sent: boolean, answering: boolean): ConnectionFault {
  // Check the name, because undici 7 looks an `HPE_…` code up by the wrong key, so it never sets one.
  if (error.name === "HTTPParserError" || answering) return "torn";
  if ("code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") return "oversized";
  if (sent) return "lost";
  return error instanceof ProxyRefusedError || findKnownCause(error)?.lasts ? "unconnectable" : "unreachable";
}
