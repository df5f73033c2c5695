import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { ConversationStopped } from "../../../src/server/conversations/conversation-store.js";
import { query } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { callerOf, claimed, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { movableClock } from "../../support/virtual-clock.js";

const { postgres, newDatabase } = await sharedPostgres();
const never = new AbortController().signal;
/** A third of the lease of these stores: after it a process renews its lease, and learns that it has lost it. */
const RENEWAL_MS = 5_000;
const place = { at: "https://there.example", provider: "there", canStop: true };

afterEach(closeStores);

describe.skipIf(!postgres)("requests at another service, in PostgreSQL (needs PostgreSQL)", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase();
  });

  it.each(["answer", "statement"] as const)(
    "are begun by the claim that said so, if its %s is lost",
    async (what) => {
      const proxy = new PostgresProxy(await newDatabase());
      const store = await storeAt(proxy.url);
      const claim = await claimed(store);
      proxy.lose("begin-remote", what);
      expect(await store.remote.begin(claim, place)).toBe(true);
      expect(await store.remote.begin(claim, place)).toBe(false);
    },
  );

  it("are begun by one of two workers, and the other one learns of it", async () => {
    const { clock, pass } = movableClock();
    const [one, two] = [await storeAt(url, { clock }), await storeAt(url)];
    for (let round = 0; round < 5; round++) {
      const lost = await claimed(one);
      await query(
        url,
        "UPDATE research.processes SET expires_at = now() WHERE id = (SELECT worker FROM research.conversations WHERE request_id = $1)",
        [lost.job.request_id],
      );
      const claim = await two.claim(never);
      const begun = await Promise.all([one.remote.begin(lost, place), two.remote.begin(claim, place)]);
      expect(begun).toEqual([false, true]);
      expect(await one.remote.read(lost.job.request_id)).toMatchObject(place);
      pass(RENEWAL_MS);
      await until(async () => lost.signal.aborted || undefined);
      expect(String(lost.signal.reason)).toMatch(/lost|taken over/);
      expect(await two.stop(callerOf(), claim.job.request_id)).toMatchObject({ remote: place });
      await until(async () => claim.signal.aborted || undefined);
      expect(claim.signal.reason).toBeInstanceOf(ConversationStopped);
    }
  });

  it("a stop whose notification is lost is still a stop, not a claim that another worker took", async () => {
    const { clock, pass } = movableClock();
    const store = await storeAt(url, { clock });
    const claim = await claimed(store);
    await query(
      url,
      "UPDATE research.conversations SET status = 'STOPPED', worker = NULL, job = NULL, completed_at = now()",
    );
    pass(RENEWAL_MS);
    await until(async () => claim.signal.aborted || undefined);
    expect(claim.signal.reason).toBeInstanceOf(ConversationStopped);
  });

  it("are not begun once the lease has run out, also before others have noticed", async () => {
    const { clock, pass } = movableClock();
    const store = await storeAt(url, { clock });
    for (let round = 0; round < 3; round++) {
      const claim = await claimed(store);
      await query(url, "UPDATE research.processes SET expires_at = now()");
      expect(await store.remote.begin(claim, place)).toBe(false);
      expect(await store.remote.read(claim.job.request_id)).toBeUndefined();
      expect(await store.stop(callerOf(), claim.job.request_id)).toEqual({ kind: "stopped" });
      pass(RENEWAL_MS);
    }
  });

  it("are not begun by a process that was suspended past its lease, whatever the database answered", async () => {
    let away = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + away };
    const store = await storeAt(url, { clock });
    const claim = await claimed(store);
    const beginning = store.remote.begin(claim, place);
    away = 60_000;
    expect(await beginning).toBe(false);
    const { mayComeMs } = (await store.remote.read(claim.job.request_id)) ?? expect.fail("not begun");
    expect(mayComeMs).toBeGreaterThan(30_000);
    expect(mayComeMs).toBeLessThanOrEqual(45_000);
    await query(url, "UPDATE research.conversations SET remote_begun_at = now() - interval '1 minute'");
    expect(await store.remote.read(claim.job.request_id)).toEqual({ ...place, mayComeMs: 0 });
  });

  it("make no start of a claim: their research does not die with a worker", async () => {
    const { clock, pass } = movableClock();
    const store = await storeAt(url, { clock });
    let claim = await claimed(store);
    await store.remote.begin(claim, place);
    for (let takeover = 0; takeover < 12; takeover++) {
      // Also while it is not known yet whether the id still comes.
      if (takeover === 6) await store.remote.keep(claim, "r-1");
      await query(url, "UPDATE research.processes SET expires_at = now()");
      pass(RENEWAL_MS);
      claim = await store.claim(never);
      expect(claim.starts).toBeLessThanOrEqual(1);
    }
    await store.returnClaim(claim);
    expect((await store.claim(never)).starts).toBeLessThanOrEqual(1);
  });

  it("what one process was refused holds at the others", async () => {
    const [api, worker] = [await storeAt(url, { role: "api" }), await storeAt(url)];
    await api.create(callerOf(), newJob());
    const claim = await worker.remote.claim("new", never);
    await worker.remote.noteAnswered(claim, { kind: "account", reason: "there: no money", atOnce: 2 });
    expect(await api.remote.findRefusal("a")).toMatchObject({ reason: "there: no money" });
  });

  it("what waits is counted for a refusal only: a look without one costs the same however much waits", async () => {
    const [api, worker] = [await storeAt(url, { role: "api" }), await storeAt(url)];
    await api.create(callerOf(), newJob());
    const claim = await worker.remote.claim("new", never);
    await query(
      url,
      `CREATE FUNCTION counted(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''counted''; END';
       ALTER TABLE research.conversations RENAME TO kept;
       CREATE VIEW research.conversations AS SELECT * FROM research.kept WHERE counted(key)`,
    );
    expect(await api.remote.findRefusal("a")).toBeUndefined();
    await worker.remote.noteAnswered(claim, { kind: "account", reason: "there: no money", atOnce: 2 });
    await expect(worker.remote.findRefusal("a")).rejects.toThrow("P0001");
  });
});
