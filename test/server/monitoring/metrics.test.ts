import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { noKeys } from "../../../src/server/keys/key-file.js";
import { createMetrics } from "../../../src/server/monitoring/metrics.js";

const COUNTS = { waiting: 1, working: 2, workers: 3, oldestDueMs: 4_500, cancellations: 5, isRefused: true };
const FIGURES = { connections: 6, connectionsWaiting: 7, leasesLost: 8 };

type Store = Parameters<typeof createMetrics>[0];
const metricsOf = (store: Partial<Store>) =>
  createMetrics(
    { readCounts: async () => COUNTS, keys: noKeys, overview: { listSpent: async () => [] }, ...store },
    "1.2.3",
    systemClock,
  );
const linesOf = async (store: Partial<Store>) =>
  (await metricsOf(store).exposition()).text.split("\n").filter((line) => !line.startsWith("#"));

it("the counts and the figures of the store, in seconds where the store has ms", async () => {
  expect(await linesOf({ figures: FIGURES })).toEqual(
    expect.arrayContaining([
      'research_build_info{version="1.2.3"} 1',
      "research_store_up 1",
      "research_queue_length 1",
      "research_working 2",
      "research_workers 3",
      "research_queue_head_age_seconds 4.5",
      "research_cancellations_pending 5",
      "research_upstream_refuses 1",
      "research_database_connections_used 6",
      "research_database_connections_waiting 7",
      "research_leases_lost 8",
    ]),
  );
});

it("a store of one process has no connections, and one that fails no counts", async () => {
  const counts = () => Promise.reject(new Error("away"));
  expect(await linesOf({ readCounts: counts })).toEqual(
    expect.arrayContaining([
      "research_store_up 0",
      "research_workers Nan",
      "research_database_connections_used 0",
      "research_database_connections_waiting 0",
      "research_leases_lost 0",
    ]),
  );
});

it("requests and research are counted with how long they took, in seconds", async () => {
  const { observer, researched, exposition } = metricsOf({});
  const common = { at: 0, method: "GET", path: "/x" };
  observer({ ...common, operation: "create", status: 200, durationMs: 30 });
  observer({ ...common, operation: "stop", status: 429, isHourUsedUp: true, durationMs: 2_000 });
  // Refused for another reason than the hour of the key.
  observer({ ...common, operation: "status", status: 429, durationMs: 1 });
  observer({ ...common, durationMs: 1 });
  researched("COMPLETED", 120_000);
  const { contentType, text } = await exposition();
  expect(contentType).toMatch(/^text\/plain/);
  expect(text.split("\n")).toEqual(
    expect.arrayContaining([
      'research_requests_total{operation="create",code="200"} 1',
      'research_requests_total{operation="stop",code="429"} 1',
      'research_requests_total{operation="other",code="0"} 1',
      'research_rate_limited_total{operation="stop"} 1',
      'research_request_duration_seconds_bucket{le="0.01",operation="create"} 0',
      'research_request_duration_seconds_bucket{le="0.05",operation="create"} 1',
      'research_request_duration_seconds_sum{operation="stop"} 2',
      'research_request_duration_seconds_count{operation="other"} 1',
      'research_duration_seconds_bucket{le="60",status="COMPLETED"} 0',
      'research_duration_seconds_bucket{le="300",status="COMPLETED"} 1',
      'research_duration_seconds_sum{status="COMPLETED"} 120',
    ]),
  );
  expect(text.match(/^research_rate_limited_total\{/gm)).toHaveLength(1);
});

it("what each key has spent, by its name and never by its id", async () => {
  const hash = "a".repeat(64);
  const limits = { create: 1, stop: 1 };
  const key = { id: "aaaa", name: "alice", hash, tier: "free", limits, createdAt: 0 } as const;
  const sums = { completed: 3, failed: 1, stopped: 2, dollars: 1.5, withDollars: 2, unreported: 4 };
  const lines = await linesOf({
    keys: { list: async () => [key] },
    overview: { listSpent: async () => [{ name: "aaaa", ...sums, inputTokens: 10, outputTokens: 20 }] },
  });
  expect(lines.filter((line) => line.includes("key="))).toEqual([
    'research_key_dollars{key="alice"} 1.5',
    'research_key_tokens{key="alice",direction="input"} 10',
    'research_key_tokens{key="alice",direction="output"} 20',
    'research_key_conversations{key="alice",status="COMPLETED"} 3',
    'research_key_conversations{key="alice",status="FAILED"} 1',
    'research_key_conversations{key="alice",status="STOPPED"} 2',
    'research_key_unsaid{key="alice"} 4',
  ]);
});
