import { randomUUID } from "node:crypto";
import { systemClock } from "../../src/core/clock.js";
import type { ResearchJob } from "../../src/core/researcher.js";
import type { Caller, Claim } from "../../src/server/conversations/conversation-store.js";
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../src/server/postgres/open-postgres-store.js";
import type { PostgresStore } from "../../src/server/postgres/postgres-store.js";

const open = new Set<PostgresStore>();

/** A store at that database, for a service that closes it. */
export function serviceStoreAt(
  url: string,
  options: Partial<PostgresStoreOptions> = {},
): Promise<PostgresStore> {
  return openPostgresStore({
    url,
    role: "all",
    leaseMs: 15_000,
    connections: 10,
    pendingMs: 0,
    clock: systemClock,
    log: () => {},
    ...options,
  });
}

/** A store at that database; `closeStores` closes it. */
export async function storeAt(
  url: string,
  options: Partial<PostgresStoreOptions> = {},
): Promise<PostgresStore> {
  const store = await serviceStoreAt(url, options);
  open.add(store);
  return store;
}

export async function closeStores(): Promise<void> {
  const stores = [...open];
  open.clear();
  await Promise.all(stores.map((store) => store.close()));
}

/** A key of that id, with the same limit for creates and stops; without one by default. */
export function callerOf(keyId = "a", limit = Number.POSITIVE_INFINITY): Caller {
  return { keyId, limits: { create: limit, stop: limit }, ownOnly: true };
}

export function newJob(): ResearchJob {
  return { request_id: randomUUID(), prompt: "why?", structured_output: false };
}

/** A new conversation that a worker at this store has taken up. */
export async function claimed(store: PostgresStore): Promise<Claim> {
  await store.create(callerOf(), newJob());
  return store.claim(new AbortController().signal);
}
