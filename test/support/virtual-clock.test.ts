import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { faultServer } from "./fault-server.js";
import { quiet } from "./quiet.js";
import { VirtualClock } from "./virtual-clock.js";

test("sleepers wake in order, each at its own time, and ties in the order they began", async () => {
  const clock = new VirtualClock(0);
  const start = clock.monotonic();
  const woken: [string, number][] = [];
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push([name, clock.monotonic() - start]);
  };
  await Promise.all([sleeper("c", 3_000_000_000), sleeper("a", 10), sleeper("b", 20), sleeper("b2", 20)]);
  expect(woken).toEqual([
    ["a", 10],
    ["b", 20],
    ["b2", 20],
    ["c", 3_000_000_000],
  ]);
  expect(clock.now()).toBe(3_000_000_000);
});

test("an aborted sleep rejects with the reason and lets no time pass", async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const sleeping = clock.sleep(1_000, stop.signal);
  stop.abort(new Error("enough"));
  await expect(sleeping).rejects.toThrow("enough");
  await expect(async () => clock.sleep(1, stop.signal)).rejects.toThrow("enough");
  await quiet();
  expect(clock.now()).toBe(0);
});

/** So many turns of the event loop that a clock which could advance would have. */
async function turns(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
}

test("no time passes while a request or a file is under way, or while it is held", async () => {
  const clock = new VirtualClock(0);
  let release = () => {};
  const server = await faultServer(() => ({
    act(socket) {
      release = () => socket.end(REPLY);
    },
  }));
  const answered = fetch(server.url);
  const slept = clock.sleep(1_000);
  await turns();
  expect(clock.now()).toBe(0);
  const resume = clock.hold();
  release();
  await (await answered).text();
  await turns();
  expect(clock.now()).toBe(0);
  resume();
  await slept;
  expect(clock.now()).toBe(1_000);

  const files = async () => {
    for (let i = 0; i < 20; i++) await readFile(import.meta.filename);
    return clock.now();
  };
  expect(await Promise.all([files(), clock.sleep(1)])).toEqual([1_000, undefined]);
});

const REPLY = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

test("a suspended machine ends sleeps early, with the wall clock ahead of the monotonic one", async () => {
  const clock = new VirtualClock(0);
  const resume = clock.hold();
  const before = clock.monotonic();
  const long = clock.sleep(600_000);
  clock.suspend(3_600_000);
  await long;
  expect([clock.now(), clock.monotonic() - before]).toEqual([3_600_000, 0]);
  clock.suspend(-60_000);
  expect(clock.now()).toBe(3_540_000);
  resume();
});
