import { expect, it } from "vitest";
import { systemClock } from "../../../src/clock.js";
import { createMetrics } from "../../../src/server/monitoring/metrics.js";

const COUNTS = { waiting: 1, working: 2, workers: 3, oldestDueMs: 4_500, cancellations: 5 };
const FIGURES = { connections: 6, connectionsWaiting: 7, leasesLost: 8 };

type Store = Parameters<typeof createMetrics>[0];
const metricsOf = (store: Partial<Store>) =>
  createMetrics({ counts: async () => COUNTS, ...store }, "1.2.3", systemClock);
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
      "research_database_connections_used 6",
      "research_database_connections_waiting 7",
      "research_leases_lost 8",
    ]),
  );
});

it("a store of one process has no connections, and one that fails no counts", async () => {
  const counts = () => Promise.reject(new Error("away"));
  expect(await linesOf({ counts })).toEqual(
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
  observer({ ...common, operation: "stop", status: 429, durationMs: 2_000 });
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
  expect(text).not.toContain('research_rate_limited_total{operation="create"}');
});
