import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { Operation } from "../../core/protocol/conversation.js";
import { readBearerToken } from "../http/authentication.js";

/** One request with its answer, for the access log and the metrics. */
export interface Exchange {
  /** When the request arrived, epoch ms. */
  at: number;
  method: string;
  /** The path without its query. */
  path: string;
  /** The operation of §4; undefined for other paths. */
  operation?: Operation;
  /** The name of an added key. */
  keyName?: string;
  /** The id of the conversation that was created or requested. */
  requestId?: string;
  /** Whether the request was refused because the hour or a budget of its key is used up. */
  isHourUsedUp?: boolean;
  /** Undefined if the connection was closed without an answer. */
  status?: number;
  /** The time from the request's headers to the end of the answer. */
  durationMs: number;
}

/** Receives each exchange when it has ended. */
export type Observer = (exchange: Readonly<Exchange>) => void;

/** Starts to observe a request. Its handlers add what they learn to the exchange. */
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

/** Replaces the request's key in `text` with `[key]`, because a client may have sent it in its path as well. */
function removeToken(text: string, request: IncomingMessage): string {
  const token = readBearerToken(request);
  if (token === undefined) return text;
  return text.replaceAll(token, "[key]").replaceAll(encodeURIComponent(token), "[key]");
}
