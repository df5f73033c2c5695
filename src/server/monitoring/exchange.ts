import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { Operation } from "../../core/protocol/conversation.js";
import { readBearerToken } from "../http/authentication.js";

/** One request with its answer, as the access log and the metrics see it. */
export interface Exchange {
  /** When it came in, epoch ms. */
  at: number;
  method: string;
  /** Without its query. */
  path: string;
  /** Of §4; undefined for other paths. */
  operation?: Operation;
  /** The name of an added key. */
  keyName?: string;
  /** The conversation that was created or asked for. */
  requestId?: string;
  /** Whether it was refused because the hour or a budget of its key is used up. */
  isHourUsedUp?: boolean;
  /** Undefined if the connection was closed without an answer. */
  status?: number;
  /** From the request's headers to the end of the answer. */
  durationMs: number;
}

/** Called with each exchange when it is over. */
export type Observer = (exchange: Readonly<Exchange>) => void;

/** Begins to observe a request. Those who answer it add to the exchange what they find out. */
export function observe(
  observers: readonly Observer[],
  clock: Clock,
  request: IncomingMessage,
  response: ServerResponse,
): Partial<Exchange> {
  if (observers.length === 0) return {};
  const begun = clock.monotonic();
  const path = removeToken((request.url ?? "").replace(/[?#].*$/s, ""), request);
  const exchange: Exchange = { at: clock.now(), method: request.method ?? "", path, durationMs: 0 };
  response.once("close", () => {
    exchange.durationMs = clock.monotonic() - begun;
    if (exchange.requestId !== undefined) exchange.requestId = removeToken(exchange.requestId, request);
    if (response.headersSent) exchange.status = response.statusCode;
    for (const observer of observers) observer(exchange);
  });
  return exchange;
}

/** `text` with `[key]` in place of the key of the request, which a client may have sent in its path as well. */
function removeToken(text: string, request: IncomingMessage): string {
  const token = readBearerToken(request);
  if (token === undefined) return text;
  return text.replaceAll(token, "[key]").replaceAll(encodeURIComponent(token), "[key]");
}
