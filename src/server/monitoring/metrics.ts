import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Clock, runWithDeadline, waitUnlessAborted } from "../../core/clock.js";
import type { KnownStatus } from "../../core/protocol/conversation.js";
import {
  type ConversationStore,
  SPENT_MS,
  type SpentSum,
  type StoreCounts,
} from "../conversations/conversation-store.js";
import type { Observer } from "./observe-exchange.js";

/** Upper bounds of the histograms' buckets, in seconds. */
const ANSWER_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const RESEARCH_SECONDS = [0.1, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];

/** Timeout for reading the store's counts, in ms. Prometheus gives up after 10 s and would then get no metrics at all. */
const STORE_MS = 2_000;

type MeasuredStore = Pick<ConversationStore, "readCounts" | "figures"> & {
  keys: Pick<ConversationStore["keys"], "list">;
  overview: Pick<ConversationStore["overview"], "listSpent">;
};

/** The metrics of this process and its store. */
export interface Metrics {
  observer: Observer;
  /** Counts a conversation that ended in this state after `durationMs`. */
  researched(status: KnownStatus, durationMs: number): void;
  /** Returns the metrics as text for Prometheus, with its content type. The store's counts are NaN while it cannot be reached. */
  exposition(): Promise<{ contentType: string; text: string }>;
}

/** Creates the metrics of this process. `version`: that of the program. */
export function createMetrics(store: MeasuredStore, version: string, clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let counts: StoreCounts | undefined;
  let spent: readonly SpentSum[] = [];
  const addGauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(value());
      },
    });
  const addCounter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const addHistogram = (name: string, help: string, label: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames: [label], buckets, registers });
  const addCountGauge = (name: string, help: string, value: (counts: StoreCounts) => number) =>
    addGauge(name, help, () => (counts === undefined ? Number.NaN : value(counts)));

  // Processor time, memory, open files, event loop lag, garbage collection, Node version.
  collectDefaultMetrics({ register: registry });
  const build = { name: "research_build_info", help: "1, with the version of the program." };
  new Gauge({ ...build, labelNames: ["version"], registers }).labels(version).set(1);
  const requests = addCounter(
    "research_requests_total",
    "Requests by operation and HTTP status; 0 if the connection was closed without an answer.",
    ["operation", "code"],
  );
  const answers = addHistogram(
    "research_request_duration_seconds",
    "From a request's headers to the end of its answer.",
    "operation",
    ANSWER_SECONDS,
  );
  const limited = addCounter(
    "research_rate_limited_total",
    "Requests refused because the hour or a budget of their key was used up.",
    ["operation"],
  );
  const research = addHistogram(
    "research_duration_seconds",
    "Time in PROCESSING of conversations that ended here, by their last state.",
    "status",
    RESEARCH_SECONDS,
  );
  addGauge("research_store_up", "Whether the store could be read for the counts below.", () =>
    Number(!!counts),
  );
  addCountGauge("research_queue_length", "Conversations without a worker.", ({ waiting }) => waiting);
  addCountGauge("research_working", "Conversations with a worker.", ({ working }) => working);
  addCountGauge("research_workers", "Live processes that do research.", ({ workers }) => workers);
  addCountGauge(
    "research_queue_head_age_seconds",
    "How long the first waiting conversation has been due.",
    ({ oldestDueMs }) => oldestDueMs / 1000,
  );
  addCountGauge(
    "research_cancellations_pending",
    "Requests that still have to be stopped at the upstream service.",
    ({ cancellations }) => cancellations,
  );
  addCountGauge(
    "research_upstream_refuses",
    "1 while the upstream service refuses all creates: no money, a refused key, a limit, or no answer.",
    ({ isRefused }) => Number(isRefused),
  );
  const addSpentGauge = (
    name: string,
    help: string,
    label: string,
    columns: Record<string, keyof SpentSum>,
  ) =>
    new Gauge({
      ...{ name, help: `${help} By key, of conversations that ended in the last 30 days.`, registers },
      labelNames: label ? ["key", label] : ["key"],
      collect() {
        this.reset();
        for (const sum of spent)
          for (const [value, column] of Object.entries(columns))
            this.inc({ key: sum.name, ...(label && { [label]: value }) }, Number(sum[column]));
      },
    });
  addSpentGauge("research_key_dollars", "Dollars that were reported.", "", { all: "dollars" });
  const directions = { input: "inputTokens", output: "outputTokens" } as const;
  addSpentGauge("research_key_tokens", "Tokens that were reported.", "direction", directions);
  const states = { COMPLETED: "completed", FAILED: "failed", STOPPED: "stopped" } as const;
  addSpentGauge("research_key_conversations", "Conversations by their last state.", "status", states);
  const unsaid = "Conversations that reported neither dollars nor tokens.";
  addSpentGauge("research_key_unsaid", unsaid, "", { all: "unreported" });
  addGauge(
    "research_database_connections_used",
    "Connections of this process that run a statement.",
    () => store.figures?.connections ?? 0,
  );
  addGauge(
    "research_database_connections_waiting",
    "Callers in this process that wait for a connection.",
    () => store.figures?.connectionsWaiting ?? 0,
  );
  addGauge(
    "research_leases_lost",
    "Leases that this process lost, with all its work, since its start.",
    () => store.figures?.leasesLost ?? 0,
  );
  return {
    observer: ({ operation = "other", status = 0, isHourUsedUp, durationMs }) => {
      requests.inc({ operation, code: String(status) });
      answers.observe({ operation }, durationMs / 1000);
      if (isHourUsedUp) limited.inc({ operation });
    },
    researched: (status, durationMs) => research.observe({ status }, durationMs / 1000),
    exposition: async () => {
      const { signal: never } = new AbortController();
      const readUntilAborted = (signal: AbortSignal) => waitUnlessAborted(readStoreFigures(store), signal);
      const late = new Error("the store is late");
      [counts, spent] = await runWithDeadline(clock, STORE_MS, never, late, readUntilAborted).catch(
        (): [undefined, []] => [undefined, []],
      );
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Reads the counts of unfinished work, and what each key has spent, with the name of the key. */
async function readStoreFigures(store: MeasuredStore): Promise<[StoreCounts, SpentSum[]]> {
  const [unfinished, spent, added] = await Promise.all([
    store.readCounts(),
    store.overview.listSpent("key", SPENT_MS),
    store.keys.list(),
  ]);
  const names = new Map(added.map(({ id, name }) => [id, name]));
  return [unfinished, spent.map((spentByKey) => ({ ...spentByKey, name: names.get(spentByKey.name) ?? "" }))];
}
