import { expect, it } from "vitest";
import { systemClock } from "../../../../src/ground/clock.js";
import { StoreUnavailableError } from "../../../../src/server/conversations/conversation-store.js";
import { MemoryContents } from "../../../../src/server/conversations/local/contents.js";
import { memoryJournal } from "../../../../src/server/conversations/local/journal.js";
import { LocalState } from "../../../../src/server/conversations/local/local-state.js";
import { LocalStore } from "../../../../src/server/conversations/local/local-store.js";
import { noKeys } from "../../../../src/server/keys/key-file.js";

const NOW = Date.UTC(2030, 0, 1);

it("what a compacted journal holds counts the same requests in the hour, each of its own key and operation", () => {
  const before = new LocalState();
  const counts = [
    { operation: "stop", key: "b", at: NOW - 30 },
    { operation: "create", key: "b", at: NOW - 20 },
    { operation: "stop", key: "a", at: NOW - 20 },
    { operation: "create", key: "a", at: NOW - 20 },
  ] as const;
  for (const count of counts) {
    expect(before.take(count, 10)).toBeUndefined();
    before.written(count);
  }
  // Of a create its own line says when it was.
  for (const { key, at } of [counts[1], counts[3]])
    before.apply({ kind: "created", job: jobOf(`${key}-${at}`), key, at });
  const after = new LocalState();
  for (const entry of before.kept(NOW)) after.restore(entry, NOW);
  const sorted = (state: LocalState) =>
    [...state.windows.counts(NOW)].map((count) => JSON.stringify(count)).sort();
  expect(sorted(after)).toEqual(sorted(before));
  expect(sorted(after)).toHaveLength(counts.length);
});

it("a request that is refused for its number takes no count from a compacted journal", () => {
  const state = new LocalState();
  const count = () => ({ operation: "stop", key: "k", at: NOW }) as const;
  const first = count();
  state.take(first, 1);
  state.written(first);
  expect(state.take(count(), 1)).toEqual({ retryAfterMs: 3_600_000 });
  expect([...state.kept(NOW)]).toEqual([{ kind: "counted", ...first }]);
});

it("a create that stands in the journal twice begins nothing anew", () => {
  const state = new LocalState();
  const created = { kind: "created", job: jobOf("one"), key: "k", at: NOW } as const;
  state.apply(created);
  state.apply({ kind: "ended", request_id: "one", status: "STOPPED", ended_at: NOW });
  state.apply(created);
  expect(state.rows.get("one")).toMatchObject({ status: "STOPPED" });
});

it("a create or a stop that could not be written counts in no hour", async () => {
  let isFull = true;
  const state = new LocalState();
  const store = new LocalStore({
    ...{ keys: noKeys, contents: new MemoryContents(), state, clock: systemClock, pendingMs: 0 },
    journal: {
      ...memoryJournal,
      append: async (_, apply) => {
        if (isFull) throw new StoreUnavailableError("disk full");
        apply();
      },
    },
    close: async () => {},
  });
  const caller = { keyId: "a", limits: { create: 1, stop: 1 }, ownOnly: true };
  for (let i = 0; i < 2; i++) {
    await expect(store.create(caller, jobOf("one"))).rejects.toThrow("disk full");
    await expect(store.stop(caller, "one")).rejects.toThrow("disk full");
  }
  isFull = false;
  expect(await store.create(caller, jobOf("two"))).toMatchObject({ kind: "created" });
  expect(await store.create(caller, jobOf("three"))).toMatchObject({ kind: "rate-limited" });
  expect(await store.stop(caller, "one")).toEqual({ kind: "not-found" });
  expect(await store.stop(caller, "two")).toMatchObject({ kind: "rate-limited" });
});

function jobOf(request_id: string) {
  return { request_id, prompt: "why?", structured_output: false };
}
