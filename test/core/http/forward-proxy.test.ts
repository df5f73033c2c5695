import { expect, test } from "vitest";
import type { ProxyAddress } from "../../../src/core/http/base-url-and-proxy.js";
import { Connections } from "../../../src/core/http/origin-connections.js";
import {
  convertProxy407ToFailure,
  type HttpAnswer,
  type WireRequest,
} from "../../../src/core/http/send-request.js";

const PROXY: ProxyAddress = { url: new URL("http://proxy.example:3128"), authorization: undefined };
const LOGIN = { ...PROXY, authorization: "Basic eA==" };
const request = (origin: string): WireRequest => ({
  ...{ origin, method: "GET", path: "/a?b", headers: { accept: "x" } },
});
const routed = (given: WireRequest, proxy: ProxyAddress | undefined) =>
  new Connections(new URL(given.origin), proxy, 1_000).routeRequest(given);
const answer = (status: number): HttpAnswer => ({
  kind: "answer",
  status,
  headers: {},
  body: Buffer.from("b"),
});

test("plain http goes to the proxy in absolute form, with the host and the login", () => {
  expect(routed(request("http://a.example:81"), LOGIN)).toEqual({
    ...{ origin: "http://proxy.example:3128", method: "GET", path: "http://a.example:81/a?b" },
    headers: { accept: "x", host: "a.example:81", "proxy-authorization": "Basic eA==" },
  });
  expect(routed(request("http://a.example"), PROXY).headers).toEqual({ accept: "x", host: "a.example" });
});

test.each([
  ["https", "https://a.example", PROXY],
  ["no proxy", "http://a.example", undefined],
])("with %s a request stays as it is", (_, origin, proxy) => {
  const given = request(origin);
  expect(routed(given, proxy)).toBe(given);
});

test("a 407 of a proxy is a failure to connect, before anything was sent", () => {
  expect(convertProxy407ToFailure(answer(407), PROXY)).toMatchObject({
    ...{ kind: "failure", fault: "unconnectable", sent: false, body: Buffer.from("b") },
  });
});

test.each([
  [407, undefined],
  [401, PROXY],
])("a %d with the proxy %o is an answer of the service", (status, proxy) => {
  const given = answer(status);
  expect(convertProxy407ToFailure(given, proxy)).toBe(given);
});
