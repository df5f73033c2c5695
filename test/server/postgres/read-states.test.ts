import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import type { SqlStatement } from "../../../src/server/postgres/database.js";
import { QueueReader, StateReader } from "../../../src/server/postgres/read-states.js";

/** After this, everything that waits for a turn of the event loop has gone on. */
const tick = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const never = new Promise<void>(() => {});

/** A reader, the ids of each statement that it sent, and what answers the statement of that number. */
function reader(sleep: () => Promise<void>) {
  const asked: string[][] = [];
  const answers: (() => void)[] = [];
  const read = (_: unknown, [ids]: readonly unknown[]) =>
    new Promise<{ request_id: string }[]>((resolve) => {
      const requestIds = ids as string[];
      asked.push(requestIds);
      answers.push(() => resolve(requestIds.map((request_id) => ({ request_id }))));
    });
  return { states: new StateReader({ read }, { sleep }), asked, answer: (n: number) => answers[n]?.() };
}

describe("states that are asked for", () => {
  it("while a statement is under way share the next one", async () => {
    const { states, asked, answer } = reader(() => never);
    const first = states.get("a");
    await tick();
    const others = [states.get("b")];
    await tick();
    others.push(states.get("c"));
    await tick();
    expect(asked).toEqual([["a"]]);
    answer(0);
    expect(await first).toEqual({ request_id: "a" });
    await tick();
    expect(asked).toEqual([["a"], ["b", "c"]]);
    answer(1);
    expect(await Promise.all(others)).toEqual([{ request_id: "b" }, { request_id: "c" }]);
  });

  it("do not wait for a statement that hangs", async () => {
    const { states, asked, answer } = reader(async () => {});
    void states.get("hangs");
    await tick();
    const next = states.get("b");
    await tick();
    expect(asked).toEqual([["hangs"], ["b"]]);
    answer(1);
    expect(await next).toEqual({ request_id: "b" });
  });
});

describe("places in a queue", () => {
  /** A reader of a queue of so many, how often it was read, and its clock. */
  function queueOf(length: number) {
    let reads = 0;
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const ids = Array.from({ length }, (_, n) => `id-${n}`);
    const read = async ({ name }: SqlStatement) => {
      if (name === "queue") reads += 1;
      return name === "queue" ? [{ ids, closed_ms: null }] : [{ spent: 0, reservedByRunning: 0, running: 0 }];
    };
    const queue = new QueueReader({ database: { read }, keys: { list: async () => [] }, clock });
    const placeOf = async (id: string) => JSON.parse((await queue.readProgress("k", id)) ?? "null");
    return { placeOf, pass: (ms: number) => (now += ms), reads: () => reads };
  }

  it("are read together, once in half a second for each key", async () => {
    const { placeOf, pass, reads } = queueOf(3);
    const places = await Promise.all(["id-0", "id-2", "another"].map(placeOf));
    expect(places).toEqual([{ step: "queue", done: 0, of: 3 }, { step: "queue", done: 2, of: 3 }, null]);
    expect(reads()).toBe(1);
    pass(400);
    await placeOf("id-1");
    expect(reads()).toBe(1);
    pass(200);
    await placeOf("id-1");
    expect(reads()).toBe(2);
  });

  it("are counted up to a thousand", async () => {
    const { placeOf } = queueOf(1_001);
    expect(await placeOf("id-999")).toEqual({ step: "queue", done: 999 });
    expect(await placeOf("far behind")).toEqual({ step: "queue", done: 1_000 });
    expect(await queueOf(1_000).placeOf("id-999")).toEqual({ step: "queue", done: 999, of: 1_000 });
  });
});
