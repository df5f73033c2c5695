import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { StoreError, StoreUnavailableError } from "../../../src/server/conversations/conversation-store.js";
import { folderWith } from "../../support/folder.js";
import { leftovers } from "../../support/leftovers.js";
import { query, testPostgres } from "../../support/postgres.js";
import { callerOf, claimed, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { until } from "../../support/service.js";
import { smallDisk } from "../../support/small-disk.js";

const { postgres, newDatabase } = await testPostgres();
const caller = callerOf();

afterEach(closeStores);

const small = postgres?.server && smallDisk("size=24m,uid=65534,gid=65534,mode=700")?.path;

describe.skipIf(!small)("a full tablespace (needs its own PostgreSQL, and the right to mount)", () => {
  it("refuses creates, of which nothing is left, and answers states; with room again all goes on", async () => {
    const name = `full_${randomBytes(4).toString("hex")}`;
    const url = new URL(await newDatabase());
    await query(url.href, `CREATE TABLESPACE ${name} LOCATION '${small}'`);
    await query(url.href, `CREATE DATABASE ${name} TABLESPACE ${name}`);
    url.pathname = `/${name}`;
    const store = await storeAt(url.href, { role: "api" });
    const created: string[] = [];
    let refusal: unknown;
    while (refusal === undefined) {
      const job = { ...newJob(), prompt: randomBytes(300_000).toString("base64") };
      const result = await store.create(caller, job).catch((error) => error);
      if (result instanceof Error) refusal = result;
      else created.push(job.request_id);
    }
    expect(refusal).toBeInstanceOf(StoreUnavailableError);
    expect(refusal).toMatchObject({ sqlstate: "53100" });
    expect(created.length).toBeGreaterThan(3);
    expect(await store.get(caller, created[0] ?? "")).toMatchObject({ status: "PENDING" });
    await store.checkReady();
    const count = "SELECT count(*)::int AS count FROM research.conversations";
    expect(await query(url.href, count)).toEqual([{ count: created.length }]);
    expect(spawnSync("mount", ["-o", "remount,size=64m", small ?? ""]).status).toBe(0);
    expect(await store.create(caller, newJob())).toMatchObject({ kind: "created" });
    expect(await query(url.href, count)).toEqual([{ count: created.length + 1 }]);
  });
});

describe.skipIf(!postgres?.server)("a promoted standby (needs its own PostgreSQL)", () => {
  it("that is synchronous has each acknowledged create once, and work under way ends there", async () => {
    const primary = postgres?.server;
    if (primary === undefined) throw new Error("no server");
    const database = new URL(await newDatabase());
    const standby = await primary.standby(folderWith());
    leftovers.add(() => standby.kill());
    await query(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await query(primary.url, "SELECT pg_reload_conf()");
    const followers = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    await until(async () => (await query(primary.url, followers)).length || undefined);
    // What a name or a balancer does elsewhere.
    const address = join(folderWith(), "current");
    const lead = ({ folder }: { folder: string }) => {
      symlinkSync(folder, `${address}.next`);
      renameSync(`${address}.next`, address);
    };
    lead(primary);
    database.searchParams.set("host", address);
    const store = await storeAt(database.href);
    const claim = await claimed(store);

    const acknowledged: string[] = [];
    let [refused, enough] = [0, Number.POSITIVE_INFINITY];
    const client = async () => {
      while (acknowledged.length < enough) {
        const job = newJob();
        const result = await store.create(caller, job).catch((error) => error);
        if (result.kind === "created") acknowledged.push(job.request_id);
        else expect(result).toBeInstanceOf(StoreError);
        if (result instanceof Error) refused += 1;
      }
    };
    const clients = Array.from({ length: 4 }, client);
    await until(async () => acknowledged.length > 40 || undefined);
    await primary.stop("immediate");
    await until(async () => refused > 0 || undefined);
    lead(standby);
    await query(standby.url, "SELECT pg_promote()");
    enough = acknowledged.length + 40;
    await Promise.all(clients);

    for (const requestId of acknowledged) expect(await store.get(caller, requestId)).toBeDefined();
    expect(await store.end(claim, { status: "COMPLETED", output: '"done"' })).toBe(true);
    expect(await store.output(caller, claim.job.request_id)).toMatchObject({ output: '"done"' });
    database.searchParams.set("host", standby.folder);
    const [{ count = 0 } = {}] = await query(
      database.href,
      "SELECT count(*)::int AS count FROM research.conversations",
    );
    expect(count).toBeGreaterThanOrEqual(acknowledged.length + 1);
    expect(count).toBeLessThanOrEqual(acknowledged.length + 1 + refused);
  });
});
