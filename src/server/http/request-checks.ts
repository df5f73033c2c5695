import type { IncomingMessage } from "node:http";
import { HttpError } from "./responses.js";

const LOOPBACK = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const HOST = /^host$/i;

/** Throws unless Host is a loopback name or in `allowed`, so that no web page reaches the service by DNS rebinding. */
export function checkHost(request: IncomingMessage, allowed: ReadonlySet<string>): void {
  const host = request.headers.host;
  if (host === undefined || host === "") {
    throw new HttpError("BAD_REQUEST", "The Host header is missing.");
  }
  // Node.js keeps the first of several Host headers, but a proxy in front may have used another one (RFC 9112 §3.2).
  if (request.rawHeaders.filter((text, at) => at % 2 === 0 && HOST.test(text)).length > 1)
    throw new HttpError("BAD_REQUEST", "The Host header appears more than once.");
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  if (!LOOPBACK.test(name) && !allowed.has(name)) {
    throw new HttpError(
      "MISDIRECTED_REQUEST",
      "This service does not answer to the name in the Host header.",
    );
  }
}

/** Throws for a request with an Origin header, because only web pages send it and they do not need this service. */
export function checkOrigin(request: IncomingMessage): void {
  if (request.headers.origin !== undefined) {
    throw new HttpError("ORIGIN_NOT_ALLOWED", "Requests of web pages (with an Origin header) are refused.");
  }
}

/** Throws unless the content type is JSON, which every POST needs even without a body (§4.1, §4.2). */
export function checkContentType(request: IncomingMessage): void {
  const type = request.headers["content-type"] ?? "";
  if (!/^\s*application\/json\s*(?:;|$)/i.test(type)) {
    throw new HttpError("UNSUPPORTED_MEDIA_TYPE", "The Content-Type header must be application/json.");
  }
}

/** Maximum size of a request body in bytes. The interface leaves the limit open (§8), so this value is ours. */
export const MAX_BODY_BYTES = 1_048_576;

/** Throws a HttpError (413) if Content-Length is over MAX_BODY_BYTES. */
export function checkContentLength(request: IncomingMessage): void {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw createTooLargeError();
}

/** Throws a HttpError if no answer can reach the client, because it has left or was already answered as too slow. */
export function checkIsAnswerable({ socket }: IncomingMessage): void {
  if (socket.destroyed || socket.writableEnded)
    throw new HttpError("BAD_REQUEST", "The connection was closed before the request was carried out.");
}

/** Reads the whole body. Rejects as soon as the body exceeds MAX_BODY_BYTES. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) reject(createTooLargeError());
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks, size)));
    const createBrokenError = () => {
      if (!request.readableEnded)
        reject(new HttpError("BAD_REQUEST", "The request body could not be read to its end."));
    };
    request.on("error", createBrokenError);
    request.on("close", createBrokenError);
  });
}

function createTooLargeError(): HttpError {
  return new HttpError("PAYLOAD_TOO_LARGE", `The request body is larger than ${MAX_BODY_BYTES} bytes.`, {
    Connection: "close",
  });
}
