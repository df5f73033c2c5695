import type { IncomingMessage } from "node:http";
import type { ConversationStore } from "../conversations/conversation-store.js";
import { isSameSecret } from "../keys/key-store.js";
import type { Metrics } from "../monitoring/metrics.js";
import { createInvalidKeyError, readBearerToken } from "./authentication.js";
import { buildSuccessResponse, createUnavailable } from "./responses.js";

/** Whether the Host header of a target is not checked: an orchestrator asks by the address of its own network. */
export function isForAnyHost(target: string, { metricsToken }: Pick<Probes, "metricsToken">): boolean {
  const [path] = target.split("?", 1);
  if (path === "/metrics") return metricsToken !== undefined;
  return path === "/health" || path === "/ready";
}

/** What operators ask; none of it is part of the interface. */
export interface Probes {
  store: Pick<ConversationStore, "checkReady">;
  /** Aborted when the service begins to close. */
  closing: AbortSignal;
  /** What those who read the metrics send; undefined if metrics are not served. */
  metricsToken: string | undefined;
  /** Loaded with the first request for metrics. */
  metrics?: Metrics;
}

/** The store can be read, and the service is not closing; else rejects with a 503. */
export async function answerReady({ store, closing }: Probes): Promise<Response> {
  if (closing.aborted) throw createUnavailable("The service is closing.");
  await store.checkReady();
  return buildSuccessResponse({});
}

/** Metrics for Prometheus, for those who send `token`. */
export async function answerMetrics(
  metrics: Metrics,
  token: string,
  request: IncomingMessage,
): Promise<Response> {
  if (!isSameSecret(readBearerToken(request), token))
    throw createInvalidKeyError("The token for metrics is missing or invalid.");
  const { contentType, text } = await metrics.exposition();
  return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}
