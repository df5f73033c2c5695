import type { IncomingMessage } from "node:http";
import type { ConversationStore } from "../conversations/conversation-store.js";
import { isSameSecret } from "../keys/key-store.js";
import type { Metrics } from "../monitoring/metrics.js";
import { createInvalidKeyError, readBearerToken } from "./authentication.js";
import { buildSuccessResponse, createUnavailable } from "./responses.js";

/** Whether a target skips the Host check, because orchestrators use the address of their own network. */
export function isForAnyHost(target: string, { metricsToken }: Pick<Probes, "metricsToken">): boolean {
  const [path] = target.split("?", 1);
  if (path === "/metrics") return metricsToken !== undefined;
  return path === "/health" || path === "/ready";
}

/** The operators' endpoints, which are not part of the interface. */
export interface Probes {
  store: Pick<ConversationStore, "checkReady">;
  /** Aborted when the service begins to close. */
  closing: AbortSignal;
  /** The token for metrics; undefined disables them. */
  metricsToken: string | undefined;
  /** Loaded at the first request for metrics. */
  metrics?: Metrics;
}

/** Resolves if the store can be read and the service is not closing; else rejects with a 503. */
export async function answerReady({ store, closing }: Probes): Promise<Response> {
  if (closing.aborted) throw createUnavailable("The service is closing.");
  await store.checkReady();
  return buildSuccessResponse({});
}

/** Returns the metrics for Prometheus to a client with `token`. */
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
