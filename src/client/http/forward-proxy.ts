import { LOGIN_REQUIRED, type ProxyAddress } from "./proxy-setting.js";
import type { HttpAnswer, RequestFailure, WireRequest } from "./transport.js";

/**
 * A plain http request as a proxy takes it: the target in absolute form (RFC 9112 §3.2.2). The usual rules of squid
 * and tinyproxy refuse CONNECT to any port but 443. Requests by https go through a tunnel and stay as they are.
 */
export function viaProxy(request: WireRequest, proxy: ProxyAddress | undefined): WireRequest {
  if (!proxy || !request.origin.startsWith("http:")) return request;
  const { host } = new URL(request.origin);
  const login = proxy.authorization && { "proxy-authorization": proxy.authorization };
  return {
    ...request,
    origin: proxy.url.origin,
    path: request.origin + request.path,
    headers: { ...request.headers, host, ...login },
  };
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
