import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { Operation } from "../../core/protocol/conversation.js";
import { readBearerToken } from "../http/authentication.js";

/** One request with its answer, as the access log and the metrics see it. */
export interface Exchange {
  /** Epoch ms at which the request arrived. */
  at: number;
  method: string;
  /** The path without its query. */
  path: string;
  /** The operation of §4; undefined for any other path. */
  operation?: Operation;
  /** The name of the key, if it is an added one. */
  keyName?: string;
  /** The id of the conversation that was created or requested. */
  requestId?: string;
  /** Whether the request was refused because the hour or a budget of its key is used up. */
  isHourUsedUp?: boolean;
  /** The HTTP status; undefined if the connection was closed without an answer. */
  status?: number;
  /** Milliseconds from the request's headers to the end of the answer. */
  durationMs: number;
}

/** Called with each exchange when the exchange has ended. */
export type Observer = (exchange: Readonly<Exchange>) => void;

/** Starts to observe a request. The request's handlers add what they learn to the returned exchange. */
export function observeExchange(
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

/** Replaces the request's key in `text` with `[key]`, because a client may also have sent the key in the path. */
function removeToken(text: string, request: IncomingMessage): string {
  const token = readBearerToken(request);
  if (token === undefined) return text;
  return text.replaceAll(token, "[key]").replaceAll(encodeURIComponent(token), "[key]");
}
