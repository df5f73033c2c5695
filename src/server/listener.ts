import { createServer, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { App } from "./app.js";
import { ANSWER_HEADERS, answerOf, failureBody, Refusal } from "./refusals.js";

/** How long a client may take to send its headers, and its whole request, in ms. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A server for `app` whose every answer is an envelope, also where Node or the adapter would answer itself. */
export function createListener(app: App): Server {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => answerOf(new Refusal("BAD_REQUEST", "The Host header or the target is malformed.")),
  });
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      // Node's own answer to a missing Host has no body; the guard gives a better one.
      requireHostHeader: false,
    },
    listener,
  );
  server.on("checkExpectation", (_, response: ServerResponse) => {
    const refusal = new Refusal("EXPECTATION_FAILED", "The Expect header asks for what is not offered.");
    const { headers, body } = closing(refusal);
    response.writeHead(refusal.status, headers).end(body);
  });
  server.on("clientError", refuseUnreadable);
  return server;
}

/** Answers a request that Node's parser gave up on. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error.code);
  const { headers, body } = closing(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${refusal.status} ${refusal.code}\r\n${lines.join("")}\r\n${body}`);
}

/** A last answer on a connection. */
function closing(refusal: Refusal) {
  const body = failureBody(refusal);
  const length = { "Content-Length": String(Buffer.byteLength(body)) };
  return { headers: { ...ANSWER_HEADERS, ...length, Connection: "close" }, body };
}

function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal("HEADERS_TOO_LARGE", "The request's headers are too large.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal("REQUEST_TIMEOUT", "The request did not arrive in time.");
    default:
      return new Refusal("BAD_REQUEST", "The request is not HTTP that can be read.");
  }
}
