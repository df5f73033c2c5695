import type { Dispatcher } from "undici";
import { onAbort } from "../clock.js";
import { type ProxyAddress, ProxyRefusal } from "./address.js";

/** What can be wrong with a connection, by what may follow from it; the service has no say in it. */
export type ConnectionFault = "unreachable" | "unconnectable" | "lost" | "timeout" | "torn" | "oversized";

export interface WireRequest {
  /** Scheme, host and port; a proxy forwards to it. */
  origin: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface ExchangeLimits {
  /** Milliseconds to connect and answer; with `perPiece`, to the headers and then for each 64 KiB of the body. */
  timeout: number;
  perPiece: boolean;
  /** Milliseconds for the whole exchange, however much comes in them. */
  total?: number | undefined;
  /** Bytes of body, as received and again as decoded, beyond which reading stops. */
  maxBytes: number;
  /** Ends the exchange: at once, or `grace` milliseconds later where learning the answer is worth that. */
  signal?: AbortSignal | undefined;
  grace?: number;
}

/** Names in lower case; what came several times is a list. */
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
  /** Whether the headers of the request were written: false proves that the service never saw it. */
  sent: boolean;
  /** What came before it broke, for salvage. */
  headers: Headers;
  body: Buffer;
}

/** How much of a body has to come in each `timeout`, in bytes (contract §5). */
const LEAST_BYTES = 65_536;

/** One request, one answer or failure; never throws, never follows a redirect, never repeats. */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  limits: ExchangeLimits,
): Promise<HttpAnswer | RequestFailure> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let sent = false;
    let over = false;
    let status = 0;
    let size = 0;
    let sizeInTime = 0;
    let events = 0;
    let headers: Headers = {};
    const pieces: Buffer[] = [];

    const finish = (failure?: { fault: ConnectionFault; message: string }) => {
      if (over) return;
      over = true;
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
    // After a suspend the timer fires before the socket is read, in which the answer may lie.
    const expire = () => readOnceMore(() => events, giveUp);
    const interrupt = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, limits.grace ?? 0);
    };
    let timer = setTimeout(expire, limits.timeout);
    const end = limits.total === undefined ? undefined : setTimeout(expire, limits.total);
    const release = onAbort(limits.signal, interrupt);

    dispatcher.dispatch(request as Dispatcher.DispatchOptions, {
      // Called right before the first byte of the headers is written (writeH1 in undici's client-h1.js), at
      // the same point as the diagnostics channel `undici:client:sendHeaders`. Bytes written say less: an
      // empty count can mean a write that is under way.
      onRequestStart(started) {
        controller = started;
        if (over) started.abort(new Error("given up before it was sent"));
        else sent = true;
      },
      onResponseStart(_controller, statusCode, raw) {
        events++;
        // An interim response (RFC 9110 §15.2): the answer is yet to come.
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
        // A line that is slow makes progress; one that sends a byte now and then would hold the connection for ever.
        if (!limits.perPiece || size - sizeInTime < LEAST_BYTES) return;
        sizeInTime = size;
        timer.refresh();
      },
      onResponseEnd() {
        finish();
      },
      onResponseError(_controller, error) {
        finish({ fault: nameConnectionFault(error, sent, status > 0), message: getMessage(error) });
      },
    });
  });
}

/** The longest that an answer which came in time is read after its time is over, in milliseconds. */
const LAST_READ_MS = 1_000;

/** Calls `closeAtOnce` once a few rounds of the event loop have read nothing more; `events` counts what was read. */
function readOnceMore(events: () => number, giveUp: () => void): void {
  const end = performance.now() + LAST_READ_MS;
  const round = (before: number, idle: number) => {
    if (idle > IDLE_ROUNDS || performance.now() > end) return giveUp();
    setImmediate(() => round(events(), events() === before ? idle + 1 : 0));
  };
  round(events(), 0);
}

/** Rounds of the event loop: TLS and a tunnel take a round each to hand over what they have read. */
const IDLE_ROUNDS = 4;

/** The value of a header, as one text; undefined if it did not come. */
export function getHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** About 285 years: added to any date, the sum is still one. */
const MAX_SECONDS = 9_000_000_000;
/** Services of this kind put a moment where seconds belong. No wait is this long: 31 years in seconds, or in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** Returns a `Retry-After` in either form as whole seconds; undefined if there is none, or it is past or makes no sense. `now`: epoch ms. */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const text = getHeader(headers, "retry-after")?.trim() ?? "";
  const at = readResponseDate(headers, now);
  if (/^\d+(\.\d+)?$/.test(text)) return readSecondsToWait(Number(text), at);
  // Only the date forms of RFC 9110 have letters: Date.parse takes "-5" for a year.
  const until = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return until > at ? Math.ceil((until - at) / 1_000) : undefined;
}

/**
 * Returns when an answer was given by the service's clock, by which the moments in it are meant; `now` (both epoch ms)
 * without a `Date`. A `Date` leaves out the milliseconds: within its second, `now` is more exact.
 */
export function readResponseDate(headers: Headers, now: number): number {
  const date = Date.parse(getHeader(headers, "date") ?? "");
  return Number.isNaN(date) || (now >= date && now < date + 1_000) ? now : date;
}

/** Returns a number of seconds, or a moment since 1970 in seconds or milliseconds, as whole seconds from `now` (epoch ms); undefined for one that is past. */
export function readSecondsToWait(count: number, now: number): number | undefined {
  if (count < EPOCH_SECONDS) return Math.ceil(count);
  const ms = (count < EPOCH_MS ? count * 1_000 : count) - now;
  return ms > 0 ? Math.min(Math.ceil(ms / 1_000), MAX_SECONDS) : undefined;
}

/** What happened, by the system's code for it; one that lasts would happen again. */
const CAUSES: readonly { code: RegExp; words: string; lasts?: true }[] = [
  { code: /^ENOTFOUND$/, words: "its name was not found", lasts: true },
  { code: /^EAI_AGAIN$/, words: "its name could not be looked up" },
  { code: /^ECONNREFUSED$/, words: "the connection was refused" },
  { code: /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, words: "the connection was closed" },
  { code: /TIMEDOUT$|TIMEOUT$/, words: "no connection came about in time" },
  { code: /UNREACH$/, words: "the network has no way to it" },
  {
    code: /^(?:CERT_|ERR_TLS_CERT|HOSTNAME_MISMATCH|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|CRL_)/,
    words: "its certificate is not trusted",
    lasts: true,
  },
  { code: /^(?:EPROTO|ERR_SSL|ERR_TLS)/, words: "no secure connection could be made", lasts: true },
];

function findCause(error: Error) {
  return CAUSES.find(({ code }) => "code" in error && code.test(String(error.code)));
}

/** The sentence of an error: what happened in words, and the system's own words, which an aggregate has in its parts only. */
function getMessage(error: Error): string {
  const message = (error.message || describeReason(error))
    .replace(/\s+/g, " ")
    // OpenSSL's own form: a thread, codes, a library, a function, the reason, and a place in its sources.
    .replace(/^\w+:error:\w+:[^:]*:[^:]*:([^:]*):.*$/, "$1")
    .trim();
  if (message === "wrong version number") return "it does not speak TLS there: is its address http://?";
  const { words } = findCause(error) ?? {};
  return words ? `${words} (${message})` : message;
}

/** Why no answer came. A failed connection to several addresses has its reason in the parts only. */
export function describeReason(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}

/** What a proxy's own 407 is: a failure to connect. A service has no say in it, and nothing has reached it. */
export function requireProxyLogin(
  answer: HttpAnswer | RequestFailure,
  proxy: ProxyAddress | undefined,
): HttpAnswer | RequestFailure {
  if (!proxy || answer.kind !== "answer" || answer.status !== 407) return answer;
  const { headers, body } = answer;
  return {
    kind: "failure",
    fault: "unconnectable",
    message: new ProxyRefusal(407).message,
    sent: false,
    headers,
    body,
  };
}

/** The fault behind a transport error. `sent`: the request's headers were written; `answering`: an answer's were read. */
function nameConnectionFault(error: Error, sent: boolean, answering: boolean): ConnectionFault {
  // Recognised by its name: the table from which undici 7 takes its `HPE_…` codes is the wrong way round, and gives none.
  if (error.name === "HTTPParserError" || answering) return "torn";
  if ("code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") return "oversized";
  if (sent) return "lost";
  return error instanceof ProxyRefusal || findCause(error)?.lasts ? "unconnectable" : "unreachable";
}
