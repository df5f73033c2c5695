import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { checkRequest, checkResponse, isOperation } from "./openapi.js";

/** What openapi.yaml did not allow in this process, one sentence each. */
export const breaches: string[] = [];
/** How many requests of the client and answers of the service were held against it. */
export const held = { requests: 0, responses: 0 };

const faithful = new Set<number>();

/** From now on each answer of the service on that port is held against openapi.yaml. */
export function holdAnswersOf(port: number): void {
  faithful.add(port);
}

/** Forgets these ports: the server of another test file may get one of them. */
export function forgetPorts(): void {
  faithful.clear();
}

interface Started {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

// Node says on this channel what any HTTP server of the process receives, before anything reads it.
subscribe("http.server.request.start", (message) => {
  const { request, response } = message as Started;
  const sent = tapped(request, "push");
  const heads = tapped(response, "writeHead");
  const written = [tapped(response, "write"), tapped(response, "end")];
  const byClient = String(request.headers["user-agent"]).startsWith("research-cli");
  const ours = faithful.has(request.socket.localPort ?? 0);
  if (!byClient && !ours) return;
  response.once("finish", () => {
    const exchange = {
      method: request.method ?? "",
      path: request.url ?? "",
      requestHeaders: request.headers,
      requestBody: textOf([sent]),
      status: response.statusCode,
      responseHeaders: { ...response.getHeaders(), ...headersOf(heads) },
      responseBody: textOf(written),
    };
    const name = `${exchange.method} ${exchange.path} ${exchange.status}`;
    // Elsewhere a test may have set another method or path for what the interface does not show (§4.3, §4.4).
    if (byClient && request.complete && (ours || isOperation(exchange.method, exchange.path))) {
      held.requests += 1;
      breaches.push(...checkRequest(exchange).map((wrong) => `request of ${name}: ${wrong}`));
    }
    // The page of the service is no part of the interface.
    if (ours && !/^\/ui(?:[/?]|$)/.test(exchange.path)) {
      held.responses += 1;
      breaches.push(...checkResponse(exchange).map((wrong) => `answer to ${name}: ${wrong}`));
    }
  });
});

/** Notes what a method of a stream is called with. */
function tapped(stream: object, method: "push" | "write" | "end" | "writeHead"): unknown[] {
  const noted: unknown[] = [];
  const original = Reflect.get(stream, method);
  const tap = function (this: unknown, ...args: unknown[]) {
    noted.push(...args);
    return Reflect.apply(original, this, args);
  };
  Reflect.set(stream, method, tap);
  return noted;
}

function headersOf(noted: readonly unknown[]): Record<string, string> {
  const given = noted.filter((one) => typeof one === "object" && one !== null).flatMap(Object.entries);
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function textOf(parts: unknown[][]): string {
  const chunks = parts.flat().filter((part) => typeof part === "string" || part instanceof Uint8Array);
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString("utf8");
}
