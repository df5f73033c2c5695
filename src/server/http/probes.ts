import type { IncomingMessage } from "node:http";
import type { ConversationStore } from "../conversations/conversation-store.js";
import { sameSecret } from "../keys/key-store.js";
import type { Metrics } from "../monitoring/metrics.js";
import { bearerToken, invalidKeyError } from "./authentication.js";
import { successResponse, unavailable } from "./responses.js";

/** Whether the Host header of a target is not checked: an orchestrator asks by the address of its own network. */
export function takesAnyHost(target: string, { metricsToken }: Pick<Probes, "metricsToken">): boolean {
  const [path] = target.split("?", 1);
  if (path === "/metrics") return metricsToken !== undefined;
  return path === "/health" || path === "/ready";
}

/** What operators ask; none of it is part of the interface. */
export interface Probes {
  store: Pick<ConversationStore, "ready">;
  /** Aborted when the service begins to close. */
  closing: AbortSignal;
  /** What those who read the metrics send; undefined if metrics are not served. */
  metricsToken: string | undefined;
  /** Loaded with the first request for metrics. */
  metrics?: Metrics;
}

/** The store can be read, and the service is not closing; else rejects with a 503. */
export async function ready({ store, closing }: Probes): Promise<Response> {
  if (closing.aborted) throw unavailable("The service is closing.");
  await store.ready();
  return successResponse({});
}

/** Metrics for Prometheus, for those who send `token`. */
export async function metrics(metrics: Metrics, token: string, request: IncomingMessage): Promise<Response> {
  if (!sameSecret(bearerToken(request), token))
    throw invalidKeyError("The token for metrics is missing or invalid.");
  const { contentType, text } = await metrics.exposition();
  return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}
