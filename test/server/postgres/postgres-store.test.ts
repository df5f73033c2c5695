import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.js";
import { createServiceKey } from "../../../src/server/keys/key-store.js";
import { endConnections, query } from "../../support/postgres.js";
import {
  callerOf as caller,
  claimed,
  closeStores,
  newJob as job,
  storeAt,
} from "../../support/postgres-store.js";
import { until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";

const { postgres, newDatabase } = await sharedPostgres();

afterEach(closeStores);

const never = new AbortController().signal;

describe.skipIf(!postgres)("the PostgreSQL store (needs PostgreSQL)", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase();
  });

  it("counts a limit exactly: 40 creates at once at two replicas with a limit of 10, for 50 keys", async () => {
    const stores = [await storeAt(url, { role: "api" }), await storeAt(url, { role: "api" })];
    const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    const created: number[] = [];
    const createAtOnce = async (key: string) => {
      const creates = Array.from({ length: 40 }, (_, i) => stores[i % 2]?.create(caller(key, 10), job()));
      created.push((await Promise.all(creates)).filter((result) => result?.kind === "created").length);
    };
    // Five keys at a time: on a busy machine two thousand creates wait longer for a connection than the store lets them.
    for (let first = 0; first < keys.length; first += 5)
      await Promise.all(keys.slice(first, first + 5).map(createAtOnce));
    expect(created).toEqual(keys.map(() => 10));
    const rows = await query(url, "SELECT key, count(*)::int FROM research.conversations GROUP BY key");
    expect(rows.map(({ count }) => count)).toEqual(keys.map(() => 10));
  });

  it("budgets hold at three processes with 32 clients, one of which is killed: never one too many", async () => {
    const stores = await Promise.all([0, 1, 2].map(() => storeAt(url, { leaseMs: 1_000 })));
    const [first] = stores;
    const hour = 3_600_000;
    const budgets = { budget: { most: 40, ms: hour }, atOnce: 2 };
    const limits = { create: 10_000, stop: 10_000 };
    const now = systemClock.now();
    const { key } = createServiceKey({
      name: "alice",
      tier: "enterprise",
      limits,
      budgets,
      now,
      validMs: undefined,
    });
    expect(await first?.keys.add(key)).toBe(true);
    const who = { keyId: key.id, limits, budgets, ownOnly: true };
    const clients = Array.from({ length: 32 }, async (_, client) => {
      const results = [];
      for (let n = 0; n < 3; n++) results.push(await stores[client % 3]?.create(who, job()));
      return results;
    });
    const results = (await Promise.all(clients)).flat();
    expect(results.filter((result) => result?.kind === "created")).toHaveLength(40);
    const running = "SELECT count(*)::int FROM research.conversations WHERE status = 'PROCESSING'";
    const most: number[] = [];
    const done = new AbortController();
    const work = [...stores, ...stores].map(async (store, index) => {
      for (let n = 0; !done.signal.aborted; n++) {
        const claim = await store.claim(done.signal).catch(() => undefined);
        if (claim === undefined) return;
        const [{ count } = { count: 99 }] = await query(url, running);
        most.push(count);
        // Its connections are gone, and what it holds is free when its lease has run out.
        if (index === 2 && n === 1) return store.closeAtOnce(0);
        await store.end(claim, { status: "COMPLETED", output: "1" });
      }
    });
    const left = "SELECT count(*)::int FROM research.conversations WHERE completed_at IS NULL";
    await until(async () => ((await query(url, left))[0]?.count === 0 ? true : undefined));
    done.abort(new Error("done"));
    await Promise.all(work);
    expect(Math.max(...most)).toBe(2);
  });

  it("of processes that claim at the same moment, one begins what the key may still begin", async () => {
    const stores = await Promise.all([0, 1, 2, 3].map(() => storeAt(url)));
    const limits = { create: 10_000, stop: 10_000 };
    const options = { name: "alice", tier: "enterprise", limits, budgets: { atOnce: 1 } } as const;
    const { key } = createServiceKey({ ...options, now: systemClock.now(), validMs: undefined });
    expect(await stores[0]?.keys.add(key)).toBe(true);
    const who = { keyId: key.id, limits, ownOnly: true };
    const rounds = 5;
    for (let n = 0; n < rounds + 10; n++) await stores[0]?.create(who, job());
    // A claim takes a while, so that the others ask before it is committed.
    await query(
      url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END';
       CREATE TRIGGER slow BEFORE UPDATE ON research.conversations FOR EACH ROW
         WHEN (NEW.worker IS NOT NULL) EXECUTE FUNCTION slow()`,
    );
    for (let round = 0; round < rounds; round++) {
      const over = new AbortController();
      const claimed: { end(): unknown }[] = [];
      const claims = stores.map(async (store) => {
        const claim = await store.claim(over.signal).catch(() => undefined);
        if (claim) claimed.push({ end: () => store.end(claim, { status: "COMPLETED", output: "1" }) });
      });
      await until(async () => claimed[0]);
      await systemClock.sleep(200);
      const held = "SELECT count(*)::int FROM research.conversations WHERE worker IS NOT NULL";
      expect(await query(url, held)).toEqual([{ count: 1 }]);
      over.abort(new Error("the round is over"));
      await Promise.all(claims);
      await Promise.all(claimed.map((one) => one.end()));
    }
  });

  it("the hour rolls: a request is free again an hour after the oldest one", async () => {
    const store = await storeAt(url, { role: "api" });
    for (let i = 0; i < 2; i++) await store.create(caller("a", 2), job());
    const refused = await store.create(caller("a", 2), job());
    expect(refused).toMatchObject({ kind: "rate-limited" });
    if (refused.kind === "rate-limited") expect(refused.retryAfterMs / 1_000).toBeGreaterThan(3_590);
    await query(url, "UPDATE research.slots SET at = at - interval '59 minutes 30 seconds' WHERE number = 0");
    const soon = await store.create(caller("a", 2), job());
    if (soon.kind === "rate-limited") expect(soon.retryAfterMs).toBeLessThanOrEqual(30_000);
    else expect.unreachable();
    await query(url, "UPDATE research.slots SET at = at - interval '30 seconds' WHERE number = 0");
    expect(await store.create(caller("a", 2), job())).toMatchObject({ kind: "created" });
    expect(await store.create(caller("a", 2), job())).toMatchObject({ kind: "rate-limited" });
    expect(await store.create(caller("b", 2), job())).toMatchObject({ kind: "created" });
  });

  it("creates of one turn share a commit, and one that is refused does not take the others along", async () => {
    const store = await storeAt(url, { role: "api" });
    const jobs = Array.from({ length: 40 }, job);
    const results = await Promise.allSettled([
      ...[...jobs, ...jobs.slice(0, 1)].map((one, index) =>
        store.create(caller(`key-${index % 3}`, 20), one),
      ),
      store.create(caller("none", 0), job()),
    ]);
    const created = results.map((result) => (result.status === "fulfilled" ? result.value.kind : "refused"));
    expect(created.toSorted()).toEqual([...jobs.map(() => "created"), "rate-limited", "refused"]);
    const more = Array.from({ length: 40 }, () => store.create(caller(), job()));
    for (const result of await Promise.all(more)) expect(result).toMatchObject({ kind: "created" });
    const commits = "SELECT count(DISTINCT xmin::text)::int FROM research.conversations WHERE key = 'a'";
    expect(await query(url, commits)).toEqual([{ count: 1 }]);
  });

  it("a limit that changes finds the same hour", async () => {
    const store = await storeAt(url, { role: "api" });
    const create = async (limit: number) => (await store.create(caller("a", limit), job())).kind;
    const [yes, no] = ["created", "rate-limited"];
    expect([await create(3), await create(3), await create(3), await create(3)]).toEqual([yes, yes, yes, no]);
    expect([await create(5), await create(5), await create(5)]).toEqual([yes, yes, no]);
    expect(await create(2)).toBe(no);
    // Of five, the newest two are what a limit of two waits for.
    await query(url, "UPDATE research.slots SET at = at - interval '2 hours' WHERE number = 0");
    expect([await create(2), await create(2)]).toEqual([yes, no]);
    expect(await create(7)).toBe(yes);
  });

  it("the hour of a key costs the same whether it holds ten requests or ten thousand", async () => {
    const store = await storeAt(url, { role: "api" });
    const written = async () =>
      Number((await query(url, "SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes"))[0]?.bytes);
    /** Bytes that PostgreSQL writes for three creates; what other tests let the same server write only adds to it. */
    const cost = async (key: string) => {
      const costs: number[] = [];
      for (let i = 0; i < 10; i++) {
        const before = await written();
        for (let n = 0; n < 3; n++) await store.create(caller(key, 20_000), job());
        costs.push((await written()) - before);
      }
      return Math.min(...costs);
    };
    await store.create(caller("many", 20_000), job());
    const times = "SELECT 'many', 'create', n, now() - interval '1 min' FROM generate_series(1, 9999) AS n";
    await query(url, `INSERT INTO research.slots ${times}`);
    await query(url, "UPDATE research.counters SET taken = 10000");
    const few = await cost("few");
    expect((await cost("many")) / few).toBeLessThan(2);
  });

  describe("a worker that does not look by itself", () => {
    /** It looks for work every half a second. */
    const blind: Clock = {
      ...systemClock,
      sleep: (ms, signal) => systemClock.sleep(ms === 500 ? 60_000 : ms, signal),
    };

    it("learns of new work, and of the end of the wait for it", async () => {
      const store = await storeAt(await newDatabase(), { clock: blind, pendingMs: 200 });
      const claiming = store.claim(never);
      const [first, second] = [job(), job()];
      await store.create(caller(), first);
      await store.create(caller(), second);
      expect((await claiming).job).toEqual(first);
      expect((await store.claim(never)).job).toEqual(second);
    });
  });

  it("works at a database that refuses notifications", async () => {
    const admin = new URL(await newDatabase());
    await query(admin.href, "CREATE ROLE plain LOGIN");
    await query(admin.href, `ALTER DATABASE ${admin.pathname.slice(1)} OWNER TO plain`);
    await query(admin.href, "REVOKE EXECUTE ON FUNCTION pg_notify FROM PUBLIC");
    const plain = new URL(admin);
    plain.username = "plain";
    const store = await storeAt(plain.href, { leaseMs: 900 });
    const claim = await claimed(store);
    const other = job();
    expect(await store.stop(caller(), claim.job.request_id)).toEqual({ kind: "stopped" });
    await until(async () => claim.signal.aborted || undefined);
    await store.create(caller(), other);
    expect(await store.claim(never)).toMatchObject({ job: other });
    await expect(query(plain.href, "SELECT pg_notify('research', 'x')")).rejects.toThrow("permission denied");
  });

  it("a stop at one process aborts the claim of another", async () => {
    const api = await storeAt(url, { role: "api" });
    // Its next renewal is too far away to learn of the stop by it.
    const worker = await storeAt(url, { role: "worker", leaseMs: 600_000 });
    const conversation = job();
    await api.create(caller(), conversation);
    const claim = await worker.claim(never);
    expect(claim).toMatchObject({ job: conversation, starts: 1 });
    expect(await api.get(caller(), conversation.request_id)).toMatchObject({ status: "PROCESSING" });
    expect(await api.stop(caller(), conversation.request_id)).toEqual({ kind: "stopped" });
    await until(async () => claim.signal.aborted || undefined);
    expect(await worker.end(claim, { status: "COMPLETED", output: "1" })).toBe(false);
    expect(await api.output(caller(), conversation.request_id)).toMatchObject({
      conversation: { status: "STOPPED" },
    });
  });

  it("a stop is learnt within one renewal if LISTEN is cut, and LISTEN comes back", async () => {
    const store = await storeAt(url, { leaseMs: 1_500 });
    const claim = await claimed(store);
    const second = job();
    await until(async () => (await endConnections(url, "LISTEN research")) || undefined);
    await store.stop(caller(), claim.job.request_id);
    await until(async () => claim.signal.aborted || undefined);
    await store.create(caller(), second);
    const other = await store.claim(never);
    await until(async () => {
      const listening =
        "SELECT FROM pg_stat_activity WHERE query = 'LISTEN research' AND datname = current_database()";
      return (await query(url, listening)).length > 0 || undefined;
    });
    await store.stop(caller(), second.request_id);
    await until(async () => other.signal.aborted || undefined);
  });

  it("what a dead worker had is taken over, and counts as another start; a given back one does not", async () => {
    const store = await storeAt(url);
    const conversation = job();
    await store.create(caller(), conversation);
    await store.returnClaim(await store.claim(never));
    const claim = await store.claim(never);
    expect(claim.starts).toBe(1);
    await query(url, "UPDATE research.processes SET expires_at = now() - interval '1 second'");
    // Another process takes it over: the first one may lose all that it holds once more while it renews its lease.
    const other = await storeAt(url);
    const again = await other.claim(never);
    expect(again).toMatchObject({ job: conversation, starts: 2 });
    await until(async () => claim.signal.aborted || undefined);
    expect(await store.end(claim, { status: "COMPLETED", output: '"late"' })).toBe(false);
    expect(await store.get(caller(), conversation.request_id)).toMatchObject({ status: "PROCESSING" });
    expect(await other.end(again, { status: "COMPLETED", output: '"in time"' })).toBe(true);
    expect(await store.output(caller(), conversation.request_id)).toMatchObject({ output: '"in time"' });
  });

  it("an end is refused once the lease has run out, also before others have noticed", async () => {
    const store = await storeAt(url);
    const claim = await claimed(store);
    await query(url, "UPDATE research.processes SET expires_at = now()");
    expect(await store.end(claim, { status: "COMPLETED", output: '"late"' })).toBe(false);
    expect(await store.claim(never)).toMatchObject({ job: claim.job, starts: 2 });
  });

  it("states that are asked for at once are each key's own", async () => {
    const store = await storeAt(await newDatabase(), { role: "api" });
    const jobs = Array.from({ length: 20 }, job);
    for (const [index, one] of jobs.entries()) await store.create(caller(index % 2 ? "odd" : "even"), one);
    const states = await Promise.all(
      jobs.flatMap((one) => [
        store.get(caller("odd"), one.request_id),
        store.get(caller("even"), one.request_id.toUpperCase()),
        store.get({ ...caller("other"), ownOnly: false }, one.request_id),
      ]),
    );
    const requestIds = states.map((state) => state?.requestId);
    expect(requestIds).toEqual(
      jobs.flatMap(({ request_id: id }, index) => (index % 2 ? [id, undefined, id] : [undefined, id, id])),
    );
  });
});
