import type { Dispatcher } from "undici";
import { onAbort } from "../../abort.js";
import { type FaultName, nameOfError } from "../failure-policy.js";
import { LOGIN_REQUIRED, type ProxyAddress } from "./proxy.js";

export interface WireRequest {
  /** Scheme, host and port; a proxy forwards to it. */
  origin: string;
  method: string;
  /** Path from the root of the origin. */
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface ExchangeLimits {
  /** Milliseconds to connect and answer; with `perPiece`, to the headers and then between two pieces of the body. */
  timeout: number;
  perPiece: boolean;
  /** Bytes of body, as received and again as decoded, beyond which reading stops. */
  maxBytes: number;
  /** Ends the exchange: at once, or `grace` milliseconds later where learning the answer is worth that. */
  signal?: AbortSignal | undefined;
  grace?: number;
}

/** Names in lower case; what came several times is a list. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole answer, of any status. */
export interface HttpAnswer {
  kind: "answer";
  status: number;
  headers: Headers;
  body: Buffer;
}

/** No whole answer. */
export interface RequestFailure {
  kind: "failure";
  fault: FaultName;
  message: string;
  /** Whether the headers of the request were written: false proves that the service never saw it. */
  sent: boolean;
  /** What came before it broke, for salvage. */
  headers: Headers;
  body: Buffer;
}

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
    let events = 0;
    let headers: Headers = {};
    const pieces: Buffer[] = [];

    const finish = (failure?: { fault: FaultName; message: string }) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
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
    const release = onAbort(limits.signal, interrupt);

    // undici's own timeouts are off: they are coarse (a second) and apart for headers and body, ours is one.
    const options = { ...request, body: request.body ?? null, headersTimeout: 0, bodyTimeout: 0 };
    dispatcher.dispatch(options as Dispatcher.DispatchOptions, {
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
        if (limits.perPiece) timer.refresh();
      },
      onResponseEnd() {
        finish();
      },
      onResponseError(_controller, error) {
        finish({ fault: nameOfError(error, sent, status > 0), message: messageOf(error) });
      },
    });
  });
}

/** The longest that an answer which came in time is read after its time is over, in milliseconds. */
const LAST_READ_MS = 1_000;

/** Calls `giveUp` once a few rounds of the event loop have read nothing more; `events` counts what was read. */
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
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The sentence of an error; a failed connection to several addresses has it in the parts only. */
function messageOf(error: Error): string {
  // undici's ProxyAgent has no code for a CONNECT that was not answered with 200.
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(error.message) ?? [];
  if (refusal)
    return refusal === "407" ? LOGIN_REQUIRED : `the proxy refused the connection (HTTP ${refusal})`;
  const inner = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message || (inner instanceof Error ? inner.message : "") || error.name;
}

/** What a proxy's own 407 is: a failure to connect. A service has no say in it, and nothing has reached it. */
export function loginRequired(
  answer: HttpAnswer | RequestFailure,
  proxy: ProxyAddress | undefined,
): HttpAnswer | RequestFailure {
  if (!proxy || answer.kind !== "answer" || answer.status !== 407) return answer;
  const { headers, body } = answer;
  return { kind: "failure", fault: "unconnectable", message: LOGIN_REQUIRED, sent: false, headers, body };
}
