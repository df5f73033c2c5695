import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { StoreUnavailableError } from "../../../src/server/conversations/conversation-store.js";
import { folderWith } from "../../support/folder.js";
import { gate } from "../../support/gate.js";
import { create, endlessResearcher, KEY, memoryStore, serviceFor, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

it.each(["/health", "/ready"])("%s needs no key and accepts any Host, but no other method", async (path) => {
  const { baseUrl } = await serviceFor();
  const answer = await ask(baseUrl, { path, headers: { Host: "node-7.cluster.example" } });
  expect([answer.status, answer.json.status]).toEqual([200, true]);
  expect(await ask(baseUrl, { method: "HEAD", path })).toMatchObject({ status: 200, text: "" });
  const posted = await post(baseUrl, path, null);
  expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
  expect((await ask(baseUrl, { path, headers: { Origin: "https://example.org" } })).status).toBe(403);
});

it("/ready says whether the store answers, /health does not ask", async () => {
  const dataDir = folderWith();
  const { baseUrl } = await serviceFor({ dataDir });
  rmSync(dataDir, { recursive: true });
  const ready = await ask(baseUrl, { path: "/ready" });
  expect([ready.status, ready.json.error?.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(Number(ready.headers["retry-after"])).toBeGreaterThan(0);
  expect((await ask(baseUrl, { path: "/health" })).status).toBe(200);
});

it("/metrics is not there without a token, and needs the token", async () => {
  const without = await serviceFor();
  for (const method of ["GET", "POST"])
    expect((await ask(without.baseUrl, { path: "/metrics", method })).status).toBe(404);
  const headers = { Host: "node-7.cluster.example" };
  const { baseUrl } = await serviceFor({ metricsToken: "scrape" });
  expect((await ask(baseUrl, { path: "/metrics?x=1", key: "scrape", headers })).status).toBe(200);
  expect((await ask(baseUrl, { path: "/metrics" })).status).toBe(401);
  expect((await ask(baseUrl, { path: "/metrics", key: KEY })).status).toBe(401);
  const answer = await ask(baseUrl, { path: "/metrics", key: "scrape" });
  expect(answer).toMatchObject({
    ...{ status: 200 },
    headers: { "content-type": expect.stringMatching(/^text\/plain/), "cache-control": "no-store" },
  });
});

it("/metrics counts requests, states, the queue, research and refusals by the hourly limit", async () => {
  const { baseUrl } = await serviceFor({ metricsToken: "scrape", tier: "free", workers: 1 });
  for (let i = 0; i < 12; i++) await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
  const text = await until(async () => {
    const answer = await ask(baseUrl, { path: "/metrics", key: "scrape" });
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

it("/metrics counts a stop once, and what it has stopped as no research", async () => {
  const researcher = endlessResearcher();
  const { baseUrl } = await serviceFor({ metricsToken: "scrape", researcher, tier: "free" });
  const id = await create({ baseUrl });
  await until(async () => researcher.running === 1 || undefined);
  await post(baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
  await until(async () => researcher.running === 0 || undefined);
  const { text } = await until(async () => {
    const answer = await ask(baseUrl, { path: "/metrics", key: "scrape" });
    return answer.text.includes('operation="stop"') ? answer : undefined;
  });
  expect(text).toContain('research_requests_total{operation="stop",code="200"} 1\n');
  expect(text).toContain('research_request_duration_seconds_count{operation="stop"} 1\n');
  expect(text).not.toMatch(/^research_duration_seconds_count/m);
});

it("/metrics counts no refusal by another service as a used-up hour, and says that it refuses", async () => {
  const store = await memoryStore();
  const reason = "there: no money";
  await store.create(
    { keyId: "k", limits: { create: 9, stop: 9 }, ownOnly: false },
    { request_id: randomUUID(), prompt: "x", structured_output: false },
  );
  const claim = await store.remote.claim("new", new AbortController().signal);
  await store.remote.noteAnswered(claim, { kind: "account", reason, atOnce: 1 });
  const { baseUrl } = await serviceFor({ store, metricsToken: "scrape", tier: "free" });
  const { status } = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
  const { text } = await ask(baseUrl, { path: "/metrics", key: "scrape" });
  expect(status).toBe(429);
  expect(text).toContain('research_requests_total{operation="create",code="429"} 1\n');
  expect(text).toContain("research_upstream_refuses 1\n");
  expect(text).not.toMatch(/^research_rate_limited_total\{/m);
});

it("/metrics has the figures of the process also while the store cannot be reached", async () => {
  const store = await memoryStore();
  for (const counts of [
    () => Promise.reject(new StoreUnavailableError("away")),
    () => new Promise<never>(() => {}),
  ]) {
    const { baseUrl } = await serviceFor({
      store: Object.assign(store, { readCounts: counts }),
      metricsToken: "scrape",
    });
    const { status, text } = await ask(baseUrl, { path: "/metrics", key: "scrape" });
    expect(status).toBe(200);
    expect(text).toMatch(/^research_store_up 0$/m);
    expect(text).toMatch(/^research_queue_length NaN$/im);
    expect(text).toMatch(/^research_build_info\{version="0\.0\.0"\} 1$/m);
    const ofProcess = [
      "nodejs_eventloop_lag_seconds",
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
    ];
    for (const name of ofProcess) expect(text).toMatch(new RegExp(`^${name} [\\d.]`, "m"));
  }
});

it("/ready is 503 as soon as the service closes, while it takes requests for as long as it drains", async () => {
  const service = await serviceFor();
  const { baseUrl } = service;
  const closed = service.close({ drainMs: 1_000 });
  const ready = await ask(baseUrl, { path: "/ready" });
  expect([ready.status, ready.json.error?.message]).toEqual([503, "The service is closing."]);
  const created = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
  expect([created.status, created.headers.connection]).toEqual([200, "close"]);
  await closed;
  await expect(ask(baseUrl, { path: "/health" })).rejects.toThrow(/ECONN/);
});

it("what is under way when the service closes is answered within the grace, on its last connection", async () => {
  const store = await memoryStore();
  const { opened: keys, open: found } = gate();
  const inUse = store.keys.isInUse.bind(store.keys);
  let asked = false;
  const waits = () => {
    asked = true;
    return keys.then(inUse);
  };
  const service = await serviceFor({
    store: Object.assign(store, { keys: { ...store.keys, isInUse: waits } }),
  });
  const creating = post(service.baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
  await until(async () => asked || undefined);
  const closed = service.close({ graceMs: 10_000 });
  const isGone = () =>
    ask(service.baseUrl, { path: "/health" }).then(
      () => undefined,
      () => true,
    );
  await until(isGone);
  found();
  expect(await creating).toMatchObject({ status: 200, headers: { connection: "close" } });
  await closed;
});

it("every metric that the alerts in deploy/ ask for is served", async () => {
  const rules = readFileSync(join(import.meta.dirname, "../../../deploy/prometheus-rules.yaml"), "utf8");
  const named = new Set(rules.match(/\b(?:research|nodejs|process)_[a-z0-9_]+/g));
  expect(named.size).toBeGreaterThan(8);
  const { baseUrl } = await serviceFor({ metricsToken: "scrape" });
  const { text } = await ask(baseUrl, { path: "/metrics", key: "scrape" });
  // A histogram is described by its own name, without that of a series.
  const served = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  for (const name of named) expect(served).toContain(name.replace(/_count$/, ""));
});
