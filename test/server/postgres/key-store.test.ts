import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { StoreUnavailableError } from "../../../src/server/conversations/conversation-store.js";
import { hashKey, type ServiceKey } from "../../../src/server/keys/key-store.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { closeStores, storeAt } from "../../support/postgres-store.js";
import { until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";

const { postgres, newDatabase } = await sharedPostgres();

afterEach(closeStores);

const keyOf = (name: string): ServiceKey => {
  const limits = { create: 10, stop: 20 };
  return { id: `id-${name}`, name, hash: hashKey(name), tier: "free", limits, createdAt: 1_000 };
};

describe.skipIf(!postgres)("keys in PostgreSQL (needs PostgreSQL)", () => {
  it("are in memory, read again after half a second, and asked for after a second", async () => {
    const url = await newDatabase();
    const proxy = new PostgresProxy(url);
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const { keys } = await storeAt(proxy.url, { role: "api", clock, leaseMs: 1e9 });
    const { keys: others } = await storeAt(url, { role: "api" });
    await keys.add(keyOf("alice"));
    expect(await keys.find(hashKey("alice"))).toEqual(keyOf("alice"));
    await others.add(keyOf("bob"));
    expect(await keys.find(hashKey("bob"))).toBeUndefined();
    now += 501;
    await until(() => keys.find(hashKey("bob")));
    await others.revoke("bob", 5_000);
    await proxy.away();
    // As old as they may be: found without the database, made-up ones not found without it.
    now += 1_000;
    expect(await keys.find(hashKey("bob"))).toEqual(keyOf("bob"));
    expect(await keys.find(hashKey("made up"))).toBeUndefined();
    expect(await keys.isInUse()).toBe(true);
    now += 1;
    for (const name of ["bob", "made up"])
      await expect(keys.find(hashKey(name))).rejects.toThrow(StoreUnavailableError);
    proxy.back();
    expect(await keys.find(hashKey("bob"))).toEqual({ ...keyOf("bob"), revokedAt: 5_000 });
    const listed = await keys.list();
    expect(listed.map(({ name }) => name)).toEqual(["alice", "bob"]);
    // What has not changed is not sent again.
    expect((await keys.list())[0]).toBe(listed[0]);
  });
});
