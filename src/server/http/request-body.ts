import type { IncomingMessage } from "node:http";
import { ServiceError } from "./service-error.js";

/** The interface does not show a limit of the body's size (§8); this is ours, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** Throws a ServiceError (413) if Content-Length is over MAX_BODY_BYTES. */
export function checkContentLength(request: IncomingMessage): void {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/** Throws a ServiceError if nobody can be told any more: the client has left, or was told that it was too slow. */
export function checkIsAnswerable({ socket }: IncomingMessage): void {
  if (socket.destroyed || socket.writableEnded)
    throw new ServiceError("BAD_REQUEST", "The connection was closed before the request was carried out.");
}

/** The whole body, at most MAX_BODY_BYTES of it; a larger one is refused as soon as it is. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks, size)));
    const broken = () => {
      if (!request.readableEnded)
        reject(new ServiceError("BAD_REQUEST", "The request body could not be read to its end."));
    };
    request.on("error", broken);
    request.on("close", broken);
  });
}

function tooLarge(): ServiceError {
  return new ServiceError("PAYLOAD_TOO_LARGE", `The request body is larger than ${MAX_BODY_BYTES} bytes.`, {
    Connection: "close",
  });
}
