import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { KeyFile, noKeys } from "../../../src/server/keys/key-file.js";
import type { ServiceKey } from "../../../src/server/keys/key-store.js";
import { createServiceKey, hashKey } from "../../../src/server/keys/key-store.js";
import type { Service } from "../../../src/server/service.js";
import { folderWith } from "../../support/folder.js";
import { during as duringService, KEY, serviceFor, until } from "../../support/service.js";
import { movableClock } from "../../support/virtual-clock.js";
import { ask, post } from "../../support/wire.js";

const LIMITS = { create: 3, stop: 2 };

let dataDir: string;
beforeEach(() => {
  dataDir = folderWith();
});

/** Adds a key as another process would: by the file. */
async function added(name: string, more: Partial<ServiceKey> = {}): Promise<string> {
  const { apiKey, key } = createServiceKey({
    ...{ name, tier: "enterprise", limits: LIMITS, validMs: undefined },
    now: systemClock.now(),
  });
  expect(await new KeyFile(dataDir, systemClock).add({ ...key, ...more })).toBe(true);
  return apiKey;
}

const create = ({ baseUrl }: Service, key: string) =>
  post(baseUrl, "/api/v1/conversations", key, { prompt: "x" });
const status = ({ baseUrl }: Service, id: unknown, key: string) =>
  ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key });
const output = ({ baseUrl }: Service, id: unknown, key: string) =>
  ask(baseUrl, { path: `/api/v1/conversation/${id}/output`, key });
const stop = ({ baseUrl }: Service, id: unknown, key: string) =>
  post(baseUrl, `/api/v1/conversation/${id}/stop`, key);

const during = <T>(run: (service: Service) => Promise<T>, clock = systemClock) =>
  duringService({ dataDir, pendingMs: 60_000, clock }, run);

it("a conversation belongs to its key: every other one gets 404, for each operation", async () => {
  const [alice, bob] = [await added("alice"), await added("bob")];
  await during(async (service) => {
    const id = (await create(service, alice)).json.data?.request_id;
    for (const operation of [status, output, stop]) {
      const { status: code, json } = await operation(service, id, bob);
      expect([code, json.error?.code]).toEqual([404, "REQUEST_NOT_FOUND"]);
    }
    expect((await status(service, id, alice)).json.data?.status).toBe("PENDING");
    expect((await stop(service, id, alice)).status).toBe(200);
  });
  await during(async (service) => {
    expect((await create(service, bob)).status).toBe(200);
  });
});

it("each key has its own hour, also after a restart", async () => {
  const [alice, bob] = [await added("alice"), await added("bob")];
  await during(async (service) => {
    for (let i = 0; i < LIMITS.create; i++) expect((await create(service, alice)).status).toBe(200);
    expect((await create(service, alice)).status).toBe(429);
    expect((await create(service, bob)).status).toBe(200);
  });
  await during(async (service) => {
    expect((await create(service, alice)).status).toBe(429);
    expect((await create(service, bob)).status).toBe(200);
  });
});

it("the first added key takes the place of the one key within a second, while the service runs", async () => {
  const { clock, pass } = movableClock();
  const run = async (service: Service) => {
    const id = (await create(service, KEY)).json.data?.request_id;
    const alice = await added("alice");
    pass(1_000);
    expect((await create(service, alice)).status).toBe(200);
    expect((await create(service, KEY)).status).toBe(401);
    expect((await status(service, id, alice)).status).toBe(404);
  };
  await during(run, clock);
});

it("a revoked or expired key is invalid within a second, and a new one of that name is another", async () => {
  const keys = new KeyFile(dataDir, systemClock);
  const alice = await added("alice");
  const old = await added("old", { expiresAt: systemClock.now() - 1 });
  const { clock, pass } = movableClock();
  const run = async (service: Service) => {
    expect((await create(service, old)).status).toBe(401);
    const id = (await create(service, alice)).json.data?.request_id;
    expect(await keys.revoke("alice", systemClock.now())).toBe(true);
    pass(1_000);
    expect((await status(service, id, alice)).status).toBe(401);
    const next = await added("alice");
    pass(1_000);
    expect((await create(service, next)).status).toBe(200);
    expect((await status(service, id, next)).status).toBe(404);
  };
  await during(run, clock);
});

it("a file of keys that is gone or broken lets no other key in", async () => {
  const path = join(dataDir, "keys.json");
  const alice = await added("alice");
  await during(async (service) => {
    expect((await create(service, alice)).status).toBe(200);
    rmSync(path);
    await until(async () => ((await create(service, alice)).status === 401 ? true : undefined));
    expect((await create(service, KEY)).status).toBe(401);
    writeFileSync(path, '{"keys":[{"name":"alice"}]}');
    const answer = await until(async () => {
      const tried = await create(service, KEY);
      return tried.status === 503 ? tried : undefined;
    });
    expect(answer.json.error?.code).toBe("SERVICE_UNAVAILABLE");
  });
});

it("keys that could not be read are read by the next request, though the last look is fresh", async () => {
  const path = join(dataDir, "keys.json");
  await added("alice");
  const whole = readFileSync(path);
  const keys = new KeyFile(dataDir, { ...systemClock, monotonic: () => 0 });
  writeFileSync(path, "{");
  await expect(keys.isInUse()).rejects.toThrow(`The keys cannot be used: ${path} is not a file of keys`);
  writeFileSync(path, whole);
  expect(await keys.isInUse()).toBe(true);
});

it("a change within the file is seen by the next look, also one that leaves its size as it was", async () => {
  const path = join(dataDir, "keys.json");
  writeFileSync(path, '{"keys":[]}');
  const { clock, pass } = movableClock();
  const keys = new KeyFile(dataDir, clock);
  expect(await keys.isInUse()).toBe(false);
  const hash = hashKey(await added("alice"));
  pass(1_000);
  expect((await keys.find(hash))?.name).toBe("alice");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, readFileSync(path, "utf8").replace("alice", "carol"));
  pass(1_000);
  expect((await keys.find(hash))?.name).toBe("carol");
});

it("a name is for one key that is not revoked: no second one, and only the named one is revoked", async () => {
  const keys = new KeyFile(folderWith(), systemClock);
  const keyNamed = (name: string) =>
    createServiceKey({ name, tier: "free", limits: LIMITS, now: 1_000, validMs: undefined }).key;
  const [alice, bob, second] = [keyNamed("alice"), keyNamed("bob"), keyNamed("alice")];
  for (const key of [alice, bob]) expect(await keys.add(key)).toBe(true);
  expect(await keys.add(second)).toBe(false);
  expect(await keys.revoke("carol", 2_000)).toBe(false);
  expect(await keys.list()).toEqual([alice, bob]);
  expect(await keys.revoke("alice", 2_000)).toBe(true);
  expect(await keys.revoke("alice", 3_000)).toBe(false);
  expect(await keys.add(second)).toBe(true);
  expect(await keys.list()).toEqual([{ ...alice, revokedAt: 2_000 }, bob, second]);
});

it("without a folder no key can be added, and none was", async () => {
  const { key } = createServiceKey({ name: "a", tier: "free", limits: LIMITS, now: 0, validMs: undefined });
  expect([await noKeys.add(key), await noKeys.revoke("a", 0), await noKeys.isInUse()]).toEqual(
    Array(3).fill(false),
  );
  expect(await noKeys.list()).toEqual([]);
});

it("requests that come together at first all find the added keys", async () => {
  const alice = await added("alice");
  await during(async (service) => {
    const answers = await Promise.all([1, 2, 3].map(() => create(service, alice)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  });
});

it("the access log names the added key that a request came with", async () => {
  const alice = await added("alice");
  const names: unknown[] = [];
  const write = (line: string) => void names.push(JSON.parse(line).key);
  const service = await serviceFor({ dataDir, accessLog: { format: "json", write } });
  expect((await status(service, "x", alice)).status).toBe(404);
  expect((await status(service, "x", KEY)).status).toBe(401);
  await until(async () => names[1] !== undefined || undefined);
  expect(names).toEqual(["alice", null]);
});
