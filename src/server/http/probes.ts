import type { IncomingMessage } from "node:http";
import type { ConversationStore } from "../conversations/conversation-store.js";
import { isSameSecret } from "../keys/key-store.js";
import type { Metrics } from "../monitoring/metrics.js";
import { createInvalidKeyError, readBearerToken } from "./authentication.js";
import { buildSuccessResponse, createUnavailable } from "./responses.js";

/** Returns whether the Host check is skipped for a path, because orchestrators address it by the IP of their network. */
export function isHostCheckSkipped(target: string, { metricsToken }: Pick<Probes, "metricsToken">): boolean {
  const [path] = target.split("?", 1);
  if (path === "/metrics") return metricsToken !== undefined;
  return path === "/health" || path === "/ready";
}

/** The operators' endpoints, which are not part of the interface. */
export interface Probes {
  store: Pick<ConversationStore, "checkReady">;
  /** Aborts when the service begins to close. */
  closing: AbortSignal;
  /** The token that a request for metrics needs; undefined disables metrics. */
  metricsToken: string | undefined;
  /** The metrics; undefined if they are disabled. */
  metrics?: Metrics;
}

/** Answers that the service is ready. Rejects with a 503 if it is closing or the store cannot be read. */
export async function answerReady({ store, closing }: Probes): Promise<Response> {
  if (closing.aborted) throw createUnavailable("The service is closing.");
  await store.checkReady();
  return buildSuccessResponse({});
}

/** Returns the metrics for Prometheus. Rejects with a 401 if the request does not have `token`. */
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
