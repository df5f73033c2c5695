import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { KnownStatus } from "../../protocol/conversation.js";
import type { ConversationStore } from "../conversations/conversation-store.js";
import type { Observer } from "./exchange.js";

/** Bounds of the histograms, seconds. */
const ANSWER_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const RESEARCH_SECONDS = [0.1, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];

/** What Prometheus reads of this process, and of the store it shares. */
export interface Metrics {
  observer: Observer;
  /** One research ended so, after that many ms. */
  researched(status: KnownStatus, durationMs: number): void;
  /** The text that Prometheus reads, with its content type. Rejects if the store cannot be reached. */
  exposition(): Promise<{ contentType: string; text: string }>;
}

export function createMetrics(store: Pick<ConversationStore, "counts">): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  const requests = new Counter({
    name: "research_requests_total",
    help: "Requests by operation and HTTP status; 0 where the connection was closed without an answer.",
    labelNames: ["operation", "code"],
    registers,
  });
  const answers = new Histogram({
    name: "research_request_duration_seconds",
    help: "From a request's headers to the end of its answer.",
    labelNames: ["operation"],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const limited = new Counter({
    name: "research_rate_limited_total",
    help: "Requests refused because the hour of their key was used up.",
    labelNames: ["operation"],
    registers,
  });
  const research = new Histogram({
    name: "research_duration_seconds",
    help: "Time in PROCESSING of conversations that ended here, by their last state.",
    labelNames: ["status"],
    buckets: RESEARCH_SECONDS,
    registers,
  });
  const queue = new Gauge({
    name: "research_queue_length",
    help: "Conversations that wait for a worker, given-back work included.",
    registers,
  });
  const working = new Gauge({
    name: "research_working",
    help: "Conversations that a worker holds.",
    registers,
  });
  const workers = new Gauge({
    name: "research_workers",
    help: "Processes alive that do research.",
    registers,
  });
  const head = new Gauge({
    name: "research_queue_head_age_seconds",
    help: "How long the first conversation that waits has been due.",
    registers,
  });
  return {
    observer: ({ operation = "other", status = 0, durationMs }) => {
      requests.inc({ operation, code: String(status) });
      answers.observe({ operation }, durationMs / 1000);
      if (status === 429) limited.inc({ operation });
    },
    researched: (status, durationMs) => research.observe({ status }, durationMs / 1000),
    exposition: async () => {
      const counts = await store.counts();
      queue.set(counts.waiting);
      working.set(counts.working);
      workers.set(counts.workers);
      head.set(counts.oldestDueMs / 1000);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
