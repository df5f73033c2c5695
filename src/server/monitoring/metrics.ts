import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Clock } from "../../clock.js";
import type { KnownStatus } from "../../protocol/conversation.js";
import type { ConversationStore, StoreCounts } from "../conversations/conversation-store.js";
import type { Observer } from "./exchange.js";

/** Bounds of the histograms, seconds. */
const ANSWER_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const RESEARCH_SECONDS = [0.1, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];

/** How long the store may take to count; Prometheus gives up after 10 s, and then it has nothing at all. */
const STORE_MS = 2_000;

type MeasuredStore = Pick<ConversationStore, "counts" | "figures">;

/** What Prometheus reads of this process, and of the store it shares. */
export interface Metrics {
  observer: Observer;
  /** One research ended so, after that many ms. */
  researched(status: KnownStatus, durationMs: number): void;
  /** The text that Prometheus reads, with its content type; the store's counts are NaN while it cannot be reached. */
  exposition(): Promise<{ contentType: string; text: string }>;
}

/** `version` is that of the program. */
export function createMetrics(store: MeasuredStore, version: string, clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Processor time, memory, open files, the lag of the event loop, garbage collection, the version of Node.
  collectDefaultMetrics({ register: registry });
  const labelNames = ["version"];
  new Gauge({
    name: "research_build_info",
    help: "1, with the version of the program.",
    labelNames,
    registers,
  })
    .labels(version)
    .set(1);
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
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const up = gauge("research_store_up", "Whether the store could be read for the counts below.");
  const counted: [Gauge, (counts: StoreCounts) => number][] = [
    [gauge("research_queue_length", "Conversations that no worker holds."), ({ waiting }) => waiting],
    [gauge("research_working", "Conversations that a worker holds."), ({ working }) => working],
    [gauge("research_workers", "Processes alive that do research."), ({ workers }) => workers],
    [
      gauge("research_queue_head_age_seconds", "How long the first conversation that waits has been due."),
      ({ oldestDueMs }) => oldestDueMs / 1000,
    ],
    [
      gauge(
        "research_cancellations_pending",
        "Requests at another service that are still to be stopped there.",
      ),
      ({ cancellations = 0 }) => cancellations,
    ],
  ];
  const own = {
    connections: gauge(
      "research_database_connections_used",
      "Connections to the database that are in use here.",
    ),
    connectionsWaiting: gauge(
      "research_database_connections_waiting",
      "Callers here that wait for a connection.",
    ),
    leasesLost: gauge(
      "research_leases_lost",
      "Leases that this process lost, with all its work, since its start.",
    ),
  };
  return {
    observer: ({ operation = "other", status = 0, durationMs }) => {
      requests.inc({ operation, code: String(status) });
      answers.observe({ operation }, durationMs / 1000);
      if (status === 429) limited.inc({ operation });
    },
    researched: (status, durationMs) => research.observe({ status }, durationMs / 1000),
    exposition: async () => {
      const counts = await countsWithin(STORE_MS, store, clock);
      up.set(counts === undefined ? 0 : 1);
      for (const [one, read] of counted) one.set(counts === undefined ? Number.NaN : read(counts));
      for (const name of ["connections", "connectionsWaiting", "leasesLost"] as const)
        own[name].set(store.figures?.[name] ?? 0);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Undefined if the store cannot be reached in time. */
async function countsWithin(ms: number, store: MeasuredStore, clock: Clock) {
  const enough = new AbortController();
  const late = clock.sleep(ms, enough.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([store.counts(), late]);
  } catch {
    return undefined;
  } finally {
    enough.abort();
  }
}
