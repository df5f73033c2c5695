import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import type { Service } from "../../../src/server/service.js";
import { folderWith } from "../../support/folder.js";
import { KEY, serviceFor, type TestServiceOptions, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

async function during<T>(options: TestServiceOptions, run: (service: Service) => Promise<T>): Promise<T> {
  const service = await serviceFor(options);
  try {
    return await run(service);
  } finally {
    await service.close();
  }
}

it.each(["/health", "/ready"])("%s needs no key and accepts any Host, but no other method", async (path) => {
  await during({}, async ({ baseUrl }) => {
    const answer = await ask(baseUrl, { path, headers: { Host: "node-7.cluster.example" } });
    expect([answer.status, answer.json.status]).toEqual([200, true]);
    const posted = await post(baseUrl, path, null);
    expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
    expect((await ask(baseUrl, { path, headers: { Origin: "https://example.org" } })).status).toBe(403);
  });
});

it("/ready says whether the store answers, /health does not ask", async () => {
  const dataDir = folderWith();
  await during({ dataDir }, async ({ baseUrl }) => {
    rmSync(dataDir, { recursive: true });
    const ready = await ask(baseUrl, { path: "/ready" });
    expect([ready.status, ready.json.error?.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(Number(ready.headers["retry-after"])).toBeGreaterThan(0);
    expect((await ask(baseUrl, { path: "/health" })).status).toBe(200);
  });
});

it("/metrics is not there without a token, and needs the token", async () => {
  await during({}, async ({ baseUrl }) => {
    expect((await ask(baseUrl, { path: "/metrics" })).status).toBe(404);
  });
  await during({ metricsAccess: { token: "scrape" } }, async ({ baseUrl }) => {
    expect((await ask(baseUrl, { path: "/metrics" })).status).toBe(401);
    expect((await ask(baseUrl, { path: "/metrics", key: KEY })).status).toBe(401);
    const answer = await ask(baseUrl, { path: "/metrics", key: "scrape" });
    expect([answer.status, answer.headers["content-type"]]).toEqual([
      200,
      expect.stringMatching(/^text\/plain/),
    ]);
  });
});

it("/metrics counts requests, states, the queue, research and refusals by the hourly limit", async () => {
  await during({ metricsAccess: "open", tier: "free", workers: 1 }, async ({ baseUrl }) => {
    for (let i = 0; i < 12; i++) await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
    const text = await until(async () => {
      const answer = await ask(baseUrl, { path: "/metrics" });
      return answer.text.includes('research_duration_seconds_count{status="COMPLETED"} 10')
        ? answer.text
        : undefined;
    });
    for (const line of [
      'research_requests_total{operation="create",code="200"} 10',
      'research_requests_total{operation="create",code="429"} 2',
      'research_rate_limited_total{operation="create"} 2',
      "research_working 0",
      "research_workers 1",
      "research_queue_length 0",
      "research_queue_head_age_seconds 0",
      'research_duration_seconds_count{status="COMPLETED"} 10',
    ])
      expect(text).toContain(`${line}\n`);
  });
});
