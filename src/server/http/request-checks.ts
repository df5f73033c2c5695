import type { IncomingMessage } from "node:http";
import { ServiceError } from "./service-error.js";

const LOOPBACK = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Answers only to the names it is meant to have, so that a web page cannot reach it by a name of its own that
 * points to this machine (DNS rebinding): loopback names, with any port, and those in `allowed`.
 */
export function checkHost(request: IncomingMessage, allowed: ReadonlySet<string>): void {
  const host = request.headers.host;
  if (host === undefined || host === "") {
    throw new ServiceError("BAD_REQUEST", "The Host header is missing.");
  }
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  if (!LOOPBACK.test(name) && !allowed.has(name)) {
    throw new ServiceError(
      "MISDIRECTED_REQUEST",
      "This service does not answer to the name in the Host header.",
    );
  }
}

/** Only a web page sends Origin, and none has any business here. */
export function checkOrigin(request: IncomingMessage): void {
  if (request.headers.origin !== undefined) {
    throw new ServiceError(
      "ORIGIN_NOT_ALLOWED",
      "Requests of web pages (with an Origin header) are refused.",
    );
  }
}

/** §4.1, §4.2: the content type that every POST must have, with a body or without. */
export function checkContentType(request: IncomingMessage): void {
  const type = request.headers["content-type"] ?? "";
  if (!/^\s*application\/json\s*(?:;|$)/i.test(type)) {
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "The Content-Type header must be application/json.");
  }
}
