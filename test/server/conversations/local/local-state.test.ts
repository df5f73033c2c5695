import { expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { StoreUnavailableError } from "../../../../src/server/conversations/conversation-store.js";
import { MemoryContentStore } from "../../../../src/server/conversations/local/content-store.js";
import { memoryJournal } from "../../../../src/server/conversations/local/journal.js";
import { LocalState } from "../../../../src/server/conversations/local/local-state.js";
import { LocalStore } from "../../../../src/server/conversations/local/local-store.js";
import { noKeys } from "../../../../src/server/keys/key-file.js";

const NOW = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;
const YEAR = 8_760 * HOUR;

/** Counts a create of the key "k". */
function taking() {
  const state = new LocalState();
  const take = (at: number, limit: number, more = {}) =>
    state.take({ operation: "create", key: "k", at, ...more }, limit);
  return { state, take };
}

it("allows as many as the limit in any hour, and says how long the next one has to wait", () => {
  const { take } = taking();
  expect([take(0, 2), take(1_000, 2)]).toEqual([undefined, undefined]);
  expect(take(2_000, 2)).toEqual({ retryAfterMs: HOUR - 2_000 });
  expect(take(HOUR - 1, 2)).toEqual({ retryAfterMs: 1 });
  expect(take(HOUR, 2)).toBeUndefined();
  expect(take(HOUR, 2)).toEqual({ retryAfterMs: 1_000 });
  // A lower limit waits for more of them to leave.
  expect(take(HOUR, 1)).toEqual({ retryAfterMs: HOUR });
  expect(take(HOUR, 2, { key: "other" })).toBeUndefined();
  expect(take(HOUR, 2, { operation: "stop" })).toBeUndefined();
  expect(take(HOUR, 0)).toEqual({ retryAfterMs: HOUR });
});

it("counts nothing without a limit", () => {
  const { state, take } = taking();
  expect(take(NOW, Number.POSITIVE_INFINITY)).toBeUndefined();
  expect(state.listHours(NOW)).toEqual([]);
});

it("what lies in the future counts as now: the clock was set back", () => {
  const { take } = taking();
  expect(take(YEAR, 1)).toBeUndefined();
  expect(take(0, 1)).toEqual({ retryAfterMs: HOUR });
  expect(take(HOUR - 1, 1)).toEqual({ retryAfterMs: 1 });
  expect(take(HOUR, 1)).toBeUndefined();
});

it("what is read back counts if it is of this hour, whatever its order and however far ahead", () => {
  const { state, take } = taking();
  for (const at of [NOW + YEAR, NOW - 1_000, NOW - HOUR, NOW - 2_000])
    state.restore({ kind: "counted", operation: "create", key: "k", at }, NOW);
  expect(state.listHours(NOW)).toEqual([
    { keyId: "k", operation: "create", times: [NOW - 2_000, NOW - 1_000, NOW] },
  ]);
  expect(take(NOW, 3)).toEqual({ retryAfterMs: HOUR - 2_000 });
});

it("reads back counts in the wrong order in time that grows as their number", () => {
  const restore = (count: number) => {
    const { state, take } = taking();
    for (let age = 0; age < count; age++)
      state.restore({ kind: "counted", operation: "create", key: "k", at: NOW - age }, NOW);
    expect(take(NOW, count)).toEqual({ retryAfterMs: HOUR - count + 1 });
  };
  /** The processor time for so many, in microseconds: the least of three tries, without a collection of garbage. */
  const cost = (count: number) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const begun = process.cpuUsage();
        restore(count);
        const { user, system } = process.cpuUsage(begun);
        return user + system;
      }),
    );
  // Ten times as many would take a hundred times as long if each were put in its place among all others.
  expect(cost(100_000)).toBeLessThan(30 * cost(10_000) + 100_000);
});

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
    before.unwritten.delete(count);
  }
  // Of a create its own line says when it was.
  for (const { key, at } of [counts[1], counts[3]])
    before.apply({ kind: "created", job: jobOf(`${key}-${at}`), key, at });
  const after = new LocalState();
  for (const entry of before.listKept(NOW)) after.restore(entry, NOW);
  const sorted = (state: LocalState) =>
    state
      .listHours(NOW)
      .map((count) => JSON.stringify(count))
      .sort();
  expect(sorted(after)).toEqual(sorted(before));
  expect(sorted(after)).toHaveLength(counts.length);
});

it("a request that is refused for its number takes no count from a compacted journal", () => {
  const state = new LocalState();
  const count = () => ({ operation: "stop", key: "k", at: NOW }) as const;
  const first = count();
  state.take(first, 1);
  state.unwritten.delete(first);
  expect(state.take(count(), 1)).toEqual({ retryAfterMs: 3_600_000 });
  expect([...state.listKept(NOW)]).toEqual([{ kind: "counted", ...first }]);
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
    ...{ keys: noKeys, contents: new MemoryContentStore(), state, clock: systemClock, pendingMs: 0 },
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
