import { describe, expect, it } from "vitest";
import { QueueReader, StateReader } from "../../../src/server/postgres/states.js";

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
      const own = ids as string[];
      asked.push(own);
      answers.push(() => resolve(own.map((request_id) => ({ request_id }))));
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

describe("places in a long queue", () => {
  /** A reader whose looks take 100 ms, when they began, and its clock. */
  function queue() {
    const looks: number[] = [];
    let now = 0;
    const clock = {
      monotonic: () => now,
      sleep: async (ms: number) => {
        now += Math.max(0, ms);
      },
    };
    const read = async (_: unknown, [ids]: readonly unknown[]) => {
      looks.push(now);
      now += 100;
      return (ids as string[]).map((request_id) => ({ request_id, done: 3, of: 9 }));
    };
    return { read, clock, looks, pass: (ms: number) => (now += ms) };
  }

  it("are looked for by one statement in five times the time that it takes", async () => {
    const { read, clock, looks, pass } = queue();
    const late = { ...clock, sleep: (ms: number) => (ms === 500 ? never : clock.sleep(ms)) };
    const places = new QueueReader({ read }, late);
    expect(await places.placeOf("a")).toBe('{"step":"queue","done":3,"of":9}');
    pass(50);
    const both = Promise.all([places.placeOf("a"), places.placeOf("b")]);
    expect(await both).toEqual(Array(2).fill('{"step":"queue","done":3,"of":9}'));
    expect(looks).toEqual([0, 500]);
  });

  it("that come too late, or would, are left out", async () => {
    const { read, clock, looks, pass } = queue();
    const silent = new QueueReader({ read: () => new Promise(() => {}) }, clock);
    expect(await silent.placeOf("a")).toBeUndefined();
    const slow = (statement: unknown, values: readonly unknown[]) => {
      pass(50);
      return read(statement, values);
    };
    const places = new QueueReader(
      { read: slow },
      { ...clock, sleep: async (ms) => (ms === 500 ? never : undefined) },
    );
    expect(await places.placeOf("a")).toBeDefined();
    expect(await places.placeOf("a")).toBeUndefined();
    expect(looks).toHaveLength(1);
  });
});
