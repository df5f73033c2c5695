import { createHash, timingSafeEqual } from "node:crypto";
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

/** The one key that is valid (§5), as what is needed of it for each request. */
export interface Key {
  digest: Buffer;
  /** A short name for the key that does not give it away. */
  name: string;
}

export function apiKeyDigest(apiKey: string): Key {
  const digest = digestOf(apiKey);
  return { digest, name: digest.toString("hex").slice(0, 16) };
}

/** §5: asks for the key as a bearer token. The comparison takes the same time whatever is sent. */
export function checkKey(request: IncomingMessage, { digest }: Key): void {
  const token = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token === undefined || !timingSafeEqual(digestOf(token), digest)) {
    throw new ServiceError("INVALID_API_KEY", "The API key is missing, invalid or expired.", {
      "WWW-Authenticate": "Bearer",
    });
  }
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
