import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { App } from "./http-app.js";
import { ANSWER_HEADERS, buildErrorBody, buildErrorResponse, HttpError } from "./responses.js";

/** Maximum time for a client to send its headers, and its whole request, in ms. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How long an idle connection stays open, in ms: longer than the 60 s of the large clouds' load balancers. */
const KEEP_ALIVE_MS = 65_000;
/** How long a client may read nothing of its answer, in ms. Meanwhile the whole answer stays in memory. */
const STALLED_MS = 60_000;

/** Creates a server that answers every request with an envelope. Once `closing` aborts, it closes each connection after an answer. */
export function createNodeServer(app: App, closing: AbortSignal, stalledMs = STALLED_MS): Server {
  // The adapter's types include HTTP/2, which this server does not serve.
  const listener = getRequestListener((request, bindings) => app(request, bindings as HttpBindings), {
    errorHandler: () =>
      buildErrorResponse(new HttpError("BAD_REQUEST", "The Host header or the target is malformed.")),
  });
  const open: Open = new Map();
  closing.addEventListener("abort", () => {
    for (const [socket, exchange] of open)
      if (exchange) exchange.response.shouldKeepAlive = false;
      else if (socket.writableEnded) socket.destroy();
  });
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
      // Node.js answers a missing Host header without a body, so `checkHost` answers instead.
      requireHostHeader: false,
    },
    (request, response) => {
      const { socket } = request;
      open.set(socket, { request, response });
      response.once("finish", () => {
        if (open.get(socket)?.response === response) open.set(socket, undefined);
      });
      if (closing.aborted) response.shouldKeepAlive = false;
      response.once("prefinish", () => socket.setTimeout(stalledMs));
      void listener(request, response);
    },
  );
  server.on("connection", (socket) => {
    socket.once("close", () => open.delete(socket));
    const { destroySoon } = socket;
    // If the connection were closed while the client still sends, a reset would destroy the answer (RFC 9112 §9.6). The
    // adapter discards what arrives, but closes after 500 ms. So wait for the end of the request, which the request
    // timeout or the closing of the server brings at the latest.
    socket.destroySoon = () => {
      const request = open.get(socket)?.request;
      const isWhole = request === undefined || request.complete;
      socket.destroySoon = isWhole || closing.aborted ? destroySoon : () => {};
      if (isWhole) socket.destroySoon();
      else {
        socket.end();
        request.once("close", () => socket.destroy());
      }
    };
  });
  server.on("checkExpectation", (_, response: ServerResponse) => {
    const error = new HttpError("EXPECTATION_FAILED", "The Expect header asks for what is not offered.");
    const { headers, body } = formatLastAnswer(error);
    response.writeHead(error.status, headers).end(body);
  });
  server.on("clientError", (error, socket) => answerUnreadable(open, error, socket));
  return server;
}

/** An error of Node's HTTP parser, with the bytes that it could not parse. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/**
 * The pending request and response of each open connection; undefined while the connection is idle. An entry per
 * request would make the table grow again and again, and the old tables would keep requests in memory.
 */
type Open = Map<Duplex, { request: IncomingMessage; response: ServerResponse } | undefined>;

/** Answers a request that Node's parser rejected, after the pending answers on its connection. */
function answerUnreadable(open: Open, error: ParserError, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { request, response } = open.get(socket) ?? {};
  // Only a complete request is answered before this one, because an incomplete one is the unreadable request itself.
  if (request?.complete) {
    response?.once("finish", () => answerUnreadable(open, error, socket));
    return;
  }
  const answer = createParserError(error.code);
  const { headers, body } = formatLastAnswer(answer);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines.join("")}\r\n`;
  const bodiless = error.rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
  // After a timeout, drop the rest of the request together with the connection.
  const then = answer.code === "REQUEST_TIMEOUT" ? () => socket.destroy() : () => {};
  socket.end(bodiless ? head : head + body, then);
}

/** Formats an answer after which the server closes the connection. */
function formatLastAnswer(error: HttpError) {
  const body = buildErrorBody(error);
  const length = { "Content-Length": String(Buffer.byteLength(body)) };
  return { headers: { ...ANSWER_HEADERS, ...length, Connection: "close" }, body };
}

function createParserError(code: string | undefined): HttpError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new HttpError("HEADERS_TOO_LARGE", "The request's headers are too large.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new HttpError("REQUEST_TIMEOUT", "The request did not arrive in time.");
    default:
      return new HttpError("BAD_REQUEST", "The request is not HTTP that can be read.");
  }
}
