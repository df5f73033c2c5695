import type { Dispatcher } from "undici";
import { describe, expect, test } from "vitest";
import { ProxyRefusedError } from "../../../src/core/http/base-url-and-proxy.js";
import { Connections } from "../../../src/core/http/origin-connections.js";
import {
  type ExchangeLimits,
  getHeader,
  parseRetryAfter,
  sendRequest,
} from "../../../src/core/http/send-request.js";
import { symbols } from "../../../src/core/http/undici.js";
import * as does from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { leftovers } from "../../support/leftovers.js";

/** One exchange with a server that does as it is told; the time is enough for a busy machine unless a test gives one. */
async function exchanged(behaviour: does.Behaviour, limits: Partial<ExchangeLimits> = {}) {
  const server = await faultServer(() => behaviour);
  const connections = new Connections(new URL(server.url), undefined, 10_000);
  leftovers.add(() => connections.close());
  const request = { origin: server.url, method: "GET", path: "/x", headers: {} };
  const whole = { timeout: 20_000, perPiece: false, maxBytes: 1_000, ...limits };
  const result = await connections.useFresh((dispatcher) => sendRequest(dispatcher, request, whole));
  return { ...result, body: result.body.toString(), server };
}

const TEN = { body: "0123456789" };
const SLOW = { body: "x".repeat(300_000) };

test.each<[string, does.Behaviour, Partial<ExchangeLimits>, object]>([
  [
    "a whole answer",
    does.answer({ ...TEN, status: 404 }),
    {},
    { kind: "answer", status: 404, body: TEN.body },
  ],
  [
    "an interim response and then the answer",
    does.raw("HTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    {},
    { kind: "answer", status: 200, body: "ok" },
  ],
  [
    "an interim response and no answer",
    { act: (socket) => void socket.write("HTTP/1.1 103 Early\r\nx: y\r\n\r\n") },
    { timeout: 1_500 },
    { kind: "failure", fault: "timeout", headers: {} },
  ],
  ["as many bytes as are allowed", does.answer(TEN), { maxBytes: 10 }, { kind: "answer", body: TEN.body }],
  ["one byte more", does.answer(TEN), { maxBytes: 9 }, { kind: "failure", fault: "oversized", sent: true }],
  ["no answer in time", does.hang(), { timeout: 1_500 }, { kind: "failure", fault: "timeout", sent: true }],
  [
    "an answer that does not end in time: what came is kept",
    does.answer({ ...TEN, length: 11 }),
    { timeout: 1_500 },
    { kind: "failure", fault: "torn", sent: true, body: TEN.body },
  ],
  ...[does.reset("body"), does.close()].map((behaviour): [string, does.Behaviour, object, object] => [
    "no answer of a connection that ends",
    behaviour,
    {},
    {
      kind: "failure",
      fault: "lost",
      sent: true,
      message: expect.stringMatching(/^the connection was closed \(/),
    },
  ]),
  [
    "an answer whose connection ends: what came is kept",
    does.raw("HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 9\r\n\r\nok"),
    {},
    { kind: "failure", fault: "torn", sent: true, headers: { x: "y" }, body: "ok" },
  ],
  [
    "what is not HTTP",
    does.raw("220 smtp ready\r\n"),
    {},
    { kind: "failure", fault: "torn", sent: true, headers: {} },
  ],
  [
    "a slow line: 64 KiB and more in each limit, that take longer together",
    does.drip(SLOW, 400, "body", 50_000),
    { timeout: 1_500, perPiece: true, maxBytes: 1_000_000 },
    { kind: "answer", body: SLOW.body },
  ],
  [
    "a drip: a byte now and then",
    does.drip(TEN, 300, "body"),
    { timeout: 1_500, perPiece: true },
    { kind: "failure", fault: "torn", sent: true },
  ],
  [
    "a slow line that goes on behind the end of all its time",
    does.drip(SLOW, 400, "body", 50_000),
    { timeout: 1_500, perPiece: true, maxBytes: 1_000_000, total: 1_700 },
    { kind: "failure", fault: "torn", sent: true },
  ],
  [
    "the same with one limit for the whole",
    does.drip(TEN, 300, "body"),
    { timeout: 2_000 },
    { fault: "torn" },
  ],
])("%s", async (_, behaviour, limits, expected) => {
  expect(await exchanged(behaviour, limits)).toMatchObject(expected);
});

test("a signal ends it at once, and nothing was sent if it came before", async () => {
  const signal = AbortSignal.abort();
  expect(await exchanged(does.hang(), { signal })).toMatchObject({ fault: "unreachable", sent: false });
});

test("with a grace the answer is still taken after the signal", async () => {
  const stop = new AbortController();
  const late: does.Behaviour = {
    act(socket) {
      stop.abort();
      setTimeout(() => socket.write(does.answerBytes(TEN)), 50);
    },
  };
  const result = await exchanged(late, { signal: stop.signal, grace: 20_000 });
  expect(result).toMatchObject({ kind: "answer", body: TEN.body });
});

test("what lies in the socket when the time is over is read", async () => {
  const end = performance.now() + 2_000;
  const late: does.Behaviour = {
    act(socket) {
      // As after a suspend: the answer is there, and the time passes while nothing is read.
      socket.write(does.answerBytes(TEN), () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, end - performance.now());
      });
    },
  };
  expect(await exchanged(late, { timeout: 1_500 })).toMatchObject({ kind: "answer", body: TEN.body });
});

test.each([
  [{}, undefined],
  [{ a: "1" }, "1"],
  [{ a: ["1", "2"] }, "1, 2"],
])("of the headers %j one is %s", (headers, text) => {
  expect(getHeader(headers, "a")).toBe(text);
});

test.each(["shared", "fresh"] as const)(
  "undici's own time limits are off in a %s connection",
  async (kind) => {
    const server = await faultServer(() => does.answer(TEN));
    const connections = new Connections(new URL(server.url), undefined, 10_000);
    leftovers.add(() => connections.close());
    const timeouts: unknown[] = [];
    const use = async (dispatcher: Dispatcher) => {
      dispatcher.on("connect", (_origin, targets) => {
        const [client, { kHeadersTimeout, kBodyTimeout }] = [Object(targets.at(-1)), Object(symbols)];
        timeouts.push(client[kHeadersTimeout], client[kBodyTimeout]);
      });
      const request = { origin: server.url, method: "GET", path: "/x", headers: {} };
      return await sendRequest(dispatcher, request, { timeout: 20_000, perPiece: false, maxBytes: 1_000 });
    };
    await (kind === "fresh" ? connections.useFresh(use) : use(await connections.getShared()));
    expect(timeouts).toEqual([0, 0]);
  },
);

/** What an exchange ends with that fails with `error`, before or after its headers were `sent`. */
function failedWith(error: Error, sent = false) {
  const dispatch = (_request: object, handler: Required<Dispatcher.DispatchHandler>) => {
    const controller = { abort: () => {} } as unknown as Dispatcher.DispatchController;
    if (sent) handler.onRequestStart(controller, {});
    handler.onResponseError(controller, error);
  };
  const request = { origin: "http://a.example", method: "GET", path: "/x", headers: {} };
  const limits = { timeout: 20_000, perPiece: false, maxBytes: 1_000 };
  return sendRequest({ dispatch } as unknown as Dispatcher, request, limits);
}
const coded = (code: string) => Object.assign(new Error("x"), { code });
const NO_TRUST = "its certificate is not trusted (x)";
const INSECURE = "a secure connection failed (x)";

test.each([
  ["ENOTFOUND", "unconnectable", "its name was not found (x)"],
  ["EAI_AGAIN", "unreachable", "its name could not be looked up (x)"],
  ["ECONNREFUSED", "unreachable", "the connection was refused (x)"],
  ...["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].map((code) => [
    code,
    "unreachable",
    "the connection was closed (x)",
  ]),
  ["ETIMEDOUT", "unreachable", "the connection timed out (x)"],
  ["UND_ERR_CONNECT_TIMEOUT", "unreachable", "the connection timed out (x)"],
  ["ENETUNREACH", "unreachable", "the network has no route to it (x)"],
  ["CERT_HAS_EXPIRED", "unconnectable", NO_TRUST],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "unconnectable", NO_TRUST],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "unconnectable", NO_TRUST],
  ["EPROTO", "unconnectable", INSECURE],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "unconnectable", INSECURE],
  ["UND_ERR_HEADERS_OVERFLOW", "oversized", "x"],
  ...[
    "_ENOTFOUND",
    "ENOTFOUND_",
    "_EAI_AGAIN",
    "EAI_AGAIN_",
    "_ECONNREFUSED",
    "ECONNREFUSED_",
    "_EPIPE",
    "EPIPE_",
  ]
    .concat("TIMEDOUT_", "TIMEOUT_", "UNREACH_", "_CERT_", "_EPROTO")
    .map((code) => [code, "unreachable", "x"]),
])("the error %s before anything was sent is %s: %s", async (code = "", fault = "", message = "") => {
  expect(await failedWith(coded(code))).toMatchObject({ fault, message, sent: false });
});

test.each<[string, Error, string, string]>([
  ["a name that is not found", coded("ENOTFOUND"), "lost", "its name was not found (x)"],
  ["what is not HTTP", Object.assign(new Error("x"), { name: "HTTPParserError" }), "torn", "x"],
  ["a line in two", new Error(" a\n  b "), "lost", "a b"],
  ["several without a sentence", new AggregateError([new Error("one"), new Error("two")]), "lost", "one"],
  ["one without a sentence", new TypeError(), "lost", "TypeError"],
  ["what is no error", new AggregateError(["text"]), "lost", "text"],
  ["a proxy", new ProxyRefusedError(403), "lost", "the proxy refused the connection (HTTP 403)"],
])("%s after the headers were sent", async (_name, error, fault, message) => {
  expect(await failedWith(error, true)).toMatchObject({ fault, message, sent: true });
});

test("what a proxy refuses would be refused again", async () => {
  expect(await failedWith(new ProxyRefusedError(403))).toMatchObject({ fault: "unconnectable", sent: false });
});

describe("a Retry-After header", () => {
  test.each([
    ["120", 120],
    [" 7 ", 7],
    ["0", 0],
    ["1.25", 2],
    ["Tue, 01 Jan 2030 00:01:00 GMT", 60],
    ["Mon, 31 Dec 2029 00:00:00 GMT", undefined],
    ["-5", undefined],
    ["x1", undefined],
    ["1x", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%j is %j seconds", (value, seconds) => {
    expect(parseRetryAfter({ "retry-after": value }, Date.UTC(2030, 0, 1))).toBe(seconds);
  });

  const NOW = Date.UTC(2030, 0, 1);
  const HOUR_AHEAD = "Tue, 01 Jan 2030 01:00:00 GMT";

  test.each<[string, string, string | undefined, number | undefined]>([
    ["seconds since 1970", String(NOW / 1_000 + 5), undefined, 5],
    ["milliseconds since 1970", String(NOW + 5_000), undefined, 5],
    ["a part of a second is a whole one", String(NOW + 5_001), undefined, 6],
    ["a moment that is past", String(NOW / 1_000 - 5), undefined, undefined],
    ["a moment of a clock that is an hour ahead", String(NOW / 1_000 + 3_605), HOUR_AHEAD, 5],
    ["a date of a clock that is an hour ahead", "Tue, 01 Jan 2030 01:00:03 GMT", HOUR_AHEAD, 3],
    [
      "a date that is past by the service's own clock",
      "Tue, 01 Jan 2030 00:30:00 GMT",
      HOUR_AHEAD,
      undefined,
    ],
    ["a date beside a Date that makes no sense", "Tue, 01 Jan 2030 00:00:03 GMT", "now", 3],
    ["the longest number of seconds", "999999999", undefined, 999_999_999],
    ["seconds, whatever the service's clock says", "120", HOUR_AHEAD, 120],
  ])("a wait that a service gives as a moment: %s", (_, value, date, seconds) => {
    expect(parseRetryAfter({ "retry-after": value, date }, NOW)).toBe(seconds);
  });

  test("a Date without milliseconds adds nothing to a wait in milliseconds", () => {
    const date = "Tue, 01 Jan 2030 00:00:00 GMT";
    expect(parseRetryAfter({ "retry-after": String(NOW + 5_900), date }, NOW + 900)).toBe(5);
    expect(parseRetryAfter({ "retry-after": String(NOW + 5_900), date }, NOW + 1_000)).toBe(6);
  });

  test("an absurd one stays a number that a date can be made of", () => {
    const seconds = parseRetryAfter({ "retry-after": "9".repeat(300) }, NOW) ?? 0;
    expect(Number.isSafeInteger(seconds * 1_000)).toBe(true);
    expect(seconds).toBeGreaterThan(1e9);
  });
});
