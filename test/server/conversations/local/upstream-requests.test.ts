import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import type { ConversationStore } from "../../../../src/server/conversations/conversation-store.js";
import { openLocalStore } from "../../../../src/server/conversations/local/open-local-store.js";
import { folderWith } from "../../../support/folder.js";

const UNLIMITED = { create: Number.POSITIVE_INFINITY, stop: Number.POSITIVE_INFINITY };
const caller = { keyId: "k", limits: UNLIMITED, ownOnly: false };
const place = { at: "https://there.example", provider: "there", canStop: true };
const never = new AbortController().signal;

it("what is known of a request at another service outlives the process, and a compaction of the journal", async () => {
  const dataDir = folderWith();
  let store = undefined as unknown as ConversationStore;
  const open = async () => {
    store = await openLocalStore({ dataDir, pendingMs: 0, clock: systemClock, log: () => {} });
    return store.remote;
  };
  const claimed = async (prompt = "x") => {
    const request_id = randomUUID();
    await store.create(caller, { request_id, prompt, structured_output: false });
    return store.claim(never);
  };
  let remote = await open();
  const [begun, kept, stopped] = [await claimed(), await claimed(), await claimed()];
  for (const claim of [begun, kept, stopped]) expect(await remote.begin(claim, place)).toBe(true);
  await remote.keep(kept, "r-kept");
  await remote.keep(stopped, "r-stopped");
  await store.stop(caller, stopped.job.request_id);
  // More than half of the journal is of a job that has ended, so that the next start makes it anew.
  const large = await claimed("x".repeat(100_000));
  await store.end(large, { status: "FAILED", reason: "too large", data: '{"cost_dollars":0.5}' });
  await store.close();
  remote = await open();
  await store.close();
  const costs = [{ name: "k", failed: 1, stopped: 1, dollars: 0.5, withDollars: 1, unreported: 1 }];
  expect(readFileSync(join(dataDir, "journal.ndjson")).length).toBeLessThan(10_000);
  remote = await open();
  expect(await store.overview.listSpent("key")).toMatchObject(costs);
  expect(await remote.read(begun.job.request_id)).toEqual({ ...place, mayComeMs: 0 });
  expect(await remote.read(kept.job.request_id)).toEqual({ ...place, remoteId: "r-kept", mayComeMs: 0 });
  const { request_id: requestId } = stopped.job;
  expect(await remote.takeCancellation(place.at, 0)).toMatchObject({ requestId, remoteId: "r-stopped" });
  await remote.noteCancelled(requestId);
  await store.close();
  remote = await open();
  expect(await remote.takeCancellation(place.at, 0)).toBeUndefined();
  await store.close();
});
