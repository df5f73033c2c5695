import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { hashKey, shortenHash } from "../../../src/server/keys/key-store.js";
import type { Service } from "../../../src/server/service.js";
import { query } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { serviceStoreAt } from "../../support/postgres-store.js";
import { endlessResearcher, KEY, serviceFor, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { movableClock } from "../../support/virtual-clock.js";
import { ask, post } from "../../support/wire.js";

const { postgres, newDatabase } = await sharedPostgres();

const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

async function api(
  url: string,
  clock = systemClock,
): Promise<{ baseUrl: string; keys: Awaited<ReturnType<typeof serviceStoreAt>>["keys"] }> {
  const store = await serviceStoreAt(url, { role: "api", clock });
  const service = await serviceFor({ store, role: "api" });
  running.push(service);
  return { baseUrl: service.baseUrl, keys: store.keys };
}

const keyOf = (name: string) => {
  const hash = hashKey(name);
  const limits = { create: 10, stop: 20 };
  return { id: shortenHash(hash), name, hash, tier: "free" as const, limits, createdAt: Date.now() };
};
const CREATE = "/api/v1/conversations";
const path = (id: unknown, operation: string) => `/api/v1/conversation/${id}/${operation}`;

describe.skipIf(!postgres)("replicas at one database (needs PostgreSQL)", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase();
  });

  it("an added key is valid at each within a second, the given one is not any more, a revoked one is not", async () => {
    const { clock, pass } = movableClock();
    const [one, two] = [await api(url, clock), await api(url, clock)];
    const codes = async (key: string) =>
      Promise.all(
        [one, two].map(
          async ({ baseUrl }) => (await ask(baseUrl, { path: path("x", "status"), key })).status,
        ),
      );
    expect(await codes(KEY)).toEqual([404, 404]);
    await one.keys.add(keyOf("alice"));
    pass(1_000);
    expect(await codes("alice")).toEqual([404, 404]);
    expect(await codes(KEY)).toEqual([401, 401]);
    await two.keys.revoke("alice", Date.now());
    pass(1_000);
    expect(await codes("alice")).toEqual([401, 401]);
  });

  it("a database that is away is 503 with Retry-After, for each operation; then all goes on", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const { baseUrl } = await api(proxy.url);
    const created = await post(baseUrl, CREATE, KEY, { prompt: "why?" });
    const id = created.json.data?.request_id;
    const asked = () => [
      post(baseUrl, CREATE, KEY, { prompt: "why?" }),
      post(baseUrl, path(id, "stop"), KEY),
      ask(baseUrl, { path: path(id, "status"), key: KEY }),
      ask(baseUrl, { path: path(randomUUID(), "output"), key: KEY }),
    ];
    await proxy.away();
    const status = { path: path(id, "status"), key: KEY };
    await until(async () => ((await ask(baseUrl, status)).status === 503 ? true : undefined));
    for (const answer of await Promise.all(asked())) {
      expect(answer.status).toBe(503);
      expect(answer.json.error?.code).toBe("SERVICE_UNAVAILABLE");
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      expect(answer.text).not.toContain(new URL(proxy.url).searchParams.get("host"));
    }
    proxy.back();
    const codes = (await Promise.all(asked())).map(({ status }) => status);
    expect(codes).toEqual([200, 200, 200, 404]);
  });

  it("a stop whose outcome is not known is not answered: the connection is dropped", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const { baseUrl } = await api(proxy.url);
    const created = await post(baseUrl, CREATE, KEY, { prompt: "why?" });
    const id = created.json.data?.request_id;
    proxy.lose("stop", "answer");
    await expect(post(baseUrl, path(id, "stop"), KEY)).rejects.toThrow();
    const status = await ask(baseUrl, { path: path(id, "status"), key: KEY });
    expect(status.json.data?.status).toBe("STOPPED");
  });

  it("a create whose commit was lost is answered with its own id and time, once", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const { baseUrl } = await api(proxy.url);
    proxy.lose("create", "answer");
    const created = await post(baseUrl, CREATE, KEY, { prompt: "why?" });
    expect(created.status).toBe(200);
    const status = await ask(baseUrl, { path: path(created.json.data?.request_id, "status"), key: KEY });
    expect(status.json.data).toMatchObject({ status: "PENDING", created_at: created.json.data?.created_at });
  });

  it("what a worker was refused by another service, an API answers with 429, and creates nothing", async () => {
    const { baseUrl } = await api(url);
    const worker = await serviceStoreAt(url, { role: "worker" });
    expect((await post(baseUrl, CREATE, KEY, { prompt: "why?" })).status).toBe(200);
    const claim = await worker.remote.claim("new", new AbortController().signal);
    await worker.remote.noteAnswered(claim, { kind: "account", reason: "there: no money", atOnce: 2 });
    const asked = async () => {
      const { status, json } = await post(baseUrl, CREATE, KEY, { prompt: "why?" });
      return status === 429 ? json.error?.message : undefined;
    };
    // An API that had found no refusal looks again within a second.
    expect(await until(asked)).toContain("there: no money");
    const count = async () => (await query(url, "SELECT FROM research.conversations")).length;
    const before = await count();
    expect(await asked()).toContain("there: no money");
    expect(await count()).toBe(before);
    await worker.close();
  });

  it("a stop at an API ends the work at a worker, and a worker answers no operation", async () => {
    const { baseUrl } = await api(url);
    const researcher = endlessResearcher();
    const store = await serviceStoreAt(url, { role: "worker" });
    const worker = await serviceFor({ store, role: "worker", researcher });
    running.push(worker);
    expect((await post(worker.baseUrl, CREATE, KEY, { prompt: "why?" })).status).toBe(404);
    const created = await post(baseUrl, CREATE, KEY, { prompt: "why?" });
    await until(async () => researcher.running || undefined);
    await post(baseUrl, path(created.json.data?.request_id, "stop"), KEY);
    await until(async () => researcher.running === 0 || undefined);
  });
});
