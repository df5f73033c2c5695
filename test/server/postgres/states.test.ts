import { describe, expect, it } from "vitest";
import { StateReader } from "../../../src/server/postgres/states.js";

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
