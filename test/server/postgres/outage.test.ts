import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import {
  StoreOutcomeUnknownError,
  StoreUnavailableError,
} from "../../../src/server/conversations/conversation-store.js";
import { ServiceStartError } from "../../../src/server/start-error.js";
import { endConnections, lockOf, query, testPostgres } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { callerOf, claimed, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { until } from "../../support/service.js";

const { postgres, newDatabase } = await testPostgres();
const never = new AbortController().signal;

afterEach(closeStores);

describe.skipIf(!postgres?.server)("a database that goes away (needs its own PostgreSQL)", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase();
  });

  it.each(["answer", "answer, with a goodbye", "statement"] as const)(
    "a create whose %s is lost is there once, counted once",
    async (what) => {
      const proxy = new PostgresProxy(url);
      const store = await storeAt(proxy.url, { role: "api" });
      const jobs = [newJob(), newJob()];
      for (const job of jobs) {
        proxy.lose("create", what);
        expect(await store.create(callerOf("a", 2), job)).toMatchObject({ kind: "created" });
      }
      expect(await store.create(callerOf("a", 2), newJob())).toMatchObject({ kind: "rate-limited" });
      const rows = await query(url, "SELECT request_id FROM research.conversations ORDER BY created_at");
      expect(rows.map((row) => row.request_id)).toEqual(jobs.map((job) => job.request_id));
    },
  );

  it("a create that is cut off while the database works on it is there once, counted once", async () => {
    const proxy = new PostgresProxy(url);
    const store = await storeAt(proxy.url, { role: "api" });
    const locker = await lockOf(url, "counters");
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'research.counters'::regclass";
    const triesWaiting = (tries: number) =>
      until(async () => (await query(url, waiting)).length >= tries || undefined);
    const job = newJob();
    const created = store.create(callerOf("a", 2), job);
    await triesWaiting(1);
    await proxy.away();
    proxy.back();
    // The server does not know that the first client has gone: both tries go on as soon as they can.
    await triesWaiting(2);
    await locker.end();
    expect(await created).toMatchObject({ kind: "created" });
    const kinds = [
      await store.create(callerOf("a", 2), newJob()),
      await store.create(callerOf("a", 2), newJob()),
    ];
    expect(kinds.map(({ kind }) => kind)).toEqual(["created", "rate-limited"]);
    expect(await query(url, "SELECT FROM research.conversations")).toHaveLength(2);
  });

  it("a create whose statement is lost, and finds the hour used up then, has an unknown outcome", async () => {
    const proxy = new PostgresProxy(url);
    await (await storeAt(url, { role: "api" })).create(callerOf("a", 1), newJob());
    // Each look at it is a second later, so that the create is given up soon.
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 1_000) };
    const store = await storeAt(proxy.url, { role: "api", clock, leaseMs: 1e9 });
    proxy.lose("create", "statement");
    await expect(store.create(callerOf("a", 1), newJob())).rejects.toThrow(StoreOutcomeUnknownError);
  });

  it("a stop whose answer is lost has an unknown outcome; a status is asked for again", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const store = await storeAt(proxy.url, { role: "api" });
    const job = newJob();
    await store.create(callerOf(), job);
    proxy.lose("stop", "answer");
    await expect(store.stop(callerOf(), job.request_id)).rejects.toThrow(StoreOutcomeUnknownError);
    proxy.lose("get", "answer");
    expect(await store.get(callerOf(), job.request_id)).toMatchObject({ status: "STOPPED" });
  });

  it("a claim whose answer is lost is taken again, as the first start", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const store = await storeAt(proxy.url, { leaseMs: 3_000 });
    const job = newJob();
    proxy.lose("claim", "answer");
    await store.create(callerOf(), job);
    expect(await store.claim(never)).toMatchObject({ job, starts: 1 });
  });

  it("an end whose answer is lost is there", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const store = await storeAt(proxy.url);
    const claim = await claimed(store);
    proxy.lose("end", "answer");
    expect(await store.end(claim, { status: "COMPLETED", output: "7" })).toBe(true);
    expect(await store.output(callerOf(), claim.job.request_id)).toMatchObject({ output: "7" });
  });

  it("while it is away nothing is done and everything says so; then everything goes on", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const store = await storeAt(proxy.url);
    const [before, after] = [newJob(), newJob()];
    await store.create(callerOf(), before);
    await proxy.away();
    await expect(store.checkReady()).rejects.toThrow(StoreUnavailableError);
    await expect(store.create(callerOf(), newJob())).rejects.toThrow(StoreUnavailableError);
    await expect(store.get(callerOf(), before.request_id)).rejects.toThrow(StoreUnavailableError);
    await expect(store.stop(callerOf(), before.request_id)).rejects.toThrow(StoreUnavailableError);
    await expect(store.keys.find("x")).rejects.toThrow(StoreUnavailableError);
    const claiming = store.claim(never);
    proxy.back();
    await store.checkReady();
    expect(await claiming).toMatchObject({ job: before });
    await store.create(callerOf(), after);
    expect(await store.claim(never)).toMatchObject({ job: after });
  });

  it("a worker that loses its lease while the database is away stops its work, and takes it again", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const log: string[] = [];
    const store = await storeAt(proxy.url, { leaseMs: 4_000, log: (line) => void log.push(line) });
    const claim = await claimed(store);
    await proxy.away();
    await until(async () => claim.signal.aborted || undefined);
    expect(log).toContain("the lease of this process was lost: others may take its work");
    proxy.back();
    const again = await store.claim(never);
    expect(again).toMatchObject({ job: claim.job, starts: 2 });
    expect(await store.end(claim, { status: "COMPLETED", output: "1" })).toBe(false);
    expect(await store.end(again, { status: "COMPLETED", output: "2" })).toBe(true);
  });

  it("a lock on the conversations costs no worker its lease, however many statements wait for it", async () => {
    const store = await storeAt(url, { leaseMs: 1_500, connections: 4 });
    const claim = await claimed(store);
    const locker = await lockOf(url, "conversations");
    // The one connection for statements, and the queue for it, are full for as long as the lock is held.
    const filled = Array.from({ length: 30 }, () => store.stop(callerOf(), "x").catch(() => {}));
    const renewed = "SELECT FROM research.processes WHERE expires_at > $1::timestamptz";
    const [start] = await query(url, "SELECT now() + interval '7 s' AS at");
    const isRenewed = async () => (await query(url, renewed, [start?.at])).length > 0;
    await until(async () => (await isRenewed()) || claim.signal.aborted || undefined);
    await locker.end();
    expect([claim.signal.aborted, store.figures.leasesLost]).toEqual([false, 0]);
    expect(await store.end(claim, { status: "COMPLETED", output: "1" })).toBe(true);
    await Promise.all(filled);
  });

  it("a server that translates its messages: a read-only one is unavailable, a name in use is in use", async () => {
    const proxy = new PostgresProxy(url);
    const key = { id: "k", name: "alice", hash: "h", tier: "free", limits: { create: 1, stop: 1 } } as const;
    const store = await storeAt(proxy.url, { role: "api" });
    proxy.replace(/SERROR\0/g, "SFEHLE\0");
    expect(await store.keys.add({ ...key, createdAt: 0 })).toBe(true);
    expect(await store.keys.add({ ...key, id: "l", hash: "i", createdAt: 0 })).toBe(false);
    await query(
      url,
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    const readOnly = await storeAt(proxy.url, { role: "api" }).catch((error) => error);
    expect(readOnly).toBeInstanceOf(ServiceStartError);
    await endConnections(url);
    // A connection that the pool has not yet seen closed fails the first create with 57P01, whose
    // outcome is not known. The next one reaches the database anew.
    await until(async () => {
      const error = await store.create(callerOf(), newJob()).catch((reason: unknown) => reason);
      return error instanceof StoreUnavailableError || undefined;
    });
  });

  it.each(["fast", "immediate"] as const)(
    "work under way outlives a restart (%s) within its lease",
    async (mode) => {
      const store = await storeAt(await newDatabase());
      const claim = await claimed(store);
      const two = newJob();
      await postgres?.server?.stop(mode);
      await expect(store.create(callerOf(), newJob())).rejects.toThrow(StoreUnavailableError);
      const ending = store.end(claim, { status: "COMPLETED", output: "1" });
      await postgres?.server?.start();
      expect(await ending).toBe(true);
      expect(await store.output(callerOf(), claim.job.request_id)).toMatchObject({ output: "1" });
      await store.create(callerOf(), two);
      expect(await store.claim(never)).toMatchObject({ job: two });
    },
  );
});
