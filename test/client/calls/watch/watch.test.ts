import { afterEach, expect, test } from "vitest";
import { ResearchClient } from "../../../../src/client/calls/client.js";
import type { WatchEvent, WatchOptions, WatchSource } from "../../../../src/client/calls/watch/types.js";
import { type Behaviour, ok, refuse, reset } from "../../../support/behaviours.js";
import { faultServer } from "../../../support/fault-server.js";
import { KEY } from "../../../support/happy-service.js";
import { quiet } from "../../../support/quiet.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((thing) => thing.close()));
});

type Reply = (elapsedMs: number, nth: number, requestId: string) => Behaviour | string;

/** A watch in virtual time; `reply` says what a poll gets, a string being a state. */
async function watching(source: WatchSource, reply: Reply, options: WatchOptions = {}) {
  const clock = new VirtualClock();
  const begin = clock.monotonic();
  const polls: number[] = [];
  // What is loaded for the first request takes real time, in which virtual time must not pass.
  let release: (() => void) | undefined = clock.hold();
  const server = await faultServer((_operation, nth, { path }) => {
    release?.();
    release = undefined;
    polls.push(clock.monotonic() - begin);
    const requestId = path.split("/").at(-2) ?? "";
    const said = reply(clock.monotonic() - begin, nth, requestId);
    return typeof said === "string" ? ok({ request_id: requestId, status: said }) : said;
  });
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY, clock, random: () => 0.5 });
  started.push(client, server);
  const events: WatchEvent[] = [];
  for await (const event of client.watch(source, options)) events.push(event);
  return { events, polls, kinds: events.map(({ kind }) => kind), elapsed: clock.monotonic() - begin, clock };
}

const until = (end: number) => (elapsedMs: number) => (elapsedMs < end ? "PROCESSING" : "COMPLETED");
const gaps = (polls: readonly number[]) => polls.slice(1).map((at, i) => at - (polls[i] ?? 0));

test("two hours at the adaptive pace: about 310 polls, each wait a twentieth of the age within 1 to 30 s", async () => {
  const { polls, kinds, elapsed } = await watching(["a"], until(2 * HOUR));
  expect(polls.length).toBeGreaterThan(300);
  expect(polls.length).toBeLessThan(325);
  expect(polls[0]).toBe(0);
  expect(Math.min(...gaps(polls))).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...gaps(polls))).toBeLessThanOrEqual(30_000);
  expect(elapsed).toBeLessThan(2 * HOUR + 30_000);
  // PROCESSING, then a word every five minutes, then the end.
  expect(kinds).toEqual(["state", ...Array(24).fill("unchanged"), "state"]);
});

test("an id whose signal is aborted is not polled any more, and the others are", async () => {
  const leaving = new AbortController();
  const asked: string[] = [];
  const { events } = await watching(
    [{ requestId: "a", signal: leaving.signal }, { requestId: "b" }],
    (elapsedMs, _nth, requestId) => {
      asked.push(requestId);
      if (elapsedMs > MINUTE && !leaving.signal.aborted) {
        asked.length = 0;
        leaving.abort();
      }
      return elapsedMs < 5 * MINUTE || requestId === "a" ? "PROCESSING" : "COMPLETED";
    },
  );
  expect(asked.filter((id) => id === "a")).toEqual([]);
  expect(events.at(-1)).toMatchObject({ kind: "state", requestId: "b", final: true });
});

test("the age counts from created_at, so an old request is not polled like a new one", async () => {
  const clock = new VirtualClock();
  const { polls } = await watching([{ requestId: "a", createdAt: clock.now() - 5 * MINUTE }], until(MINUTE));
  expect(gaps(polls)[0]).toBeCloseTo(15_000, -3);
});

test("what happens while the caller deals with an event is not lost", async () => {
  const server = await faultServer((_operation, _nth, { path }) =>
    ok({ request_id: path.split("/").at(-2) ?? "", status: "COMPLETED" }),
  );
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY });
  started.push(client, server);
  const seen: string[] = [];
  for await (const event of client.watch(["a", "b", "c"], { interval: 1 })) {
    if (event.kind === "state") seen.push(event.requestId);
    while (server.count() < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    await quiet();
  }
  expect(seen.sort()).toEqual(["a", "b", "c"]);
});

test("--interval fixes the pace", async () => {
  const { polls } = await watching(["a"], until(10_000), { interval: 2_500 });
  expect(gaps(polls)).toEqual([2_500, 2_500, 2_500, 2_500]);
});

test("each id has one change event a change and one final one; a state nobody knows is not final", async () => {
  const states = ["PENDING", "PENDING", "DREAMING", "PENDING", "FAILED"];
  const { events } = await watching(["a"], (_elapsed, nth) => states[nth - 1] ?? "FAILED", { interval: 1 });
  const seen = events.map((event) => event.kind === "state" && [event.previous, event.status, event.final]);
  expect(seen).toEqual([
    [null, "PENDING", false],
    ["PENDING", "DREAMING", false],
    ["DREAMING", "PENDING", false],
    ["PENDING", "FAILED", true],
  ]);
});

test("all ids together make at most 50 polls a second", async () => {
  const ids = Array.from({ length: 100 }, (_, i) => `id-${i}`);
  const { polls } = await watching(ids, until(8_000));
  expect(Math.min(...gaps(polls))).toBeGreaterThanOrEqual(20);
  expect(polls.length).toBeGreaterThan(240);
});

test("a deadline: one last poll right before it, then each unfinished id times out", async () => {
  const { polls, events } = await watching(["a", "b"], () => "PROCESSING", { timeout: 10 * MINUTE });
  expect(polls.at(-1)).toBe(10 * MINUTE);
  expect(events.filter(({ kind }) => kind === "timeout")).toHaveLength(2);
});

test("the last polls before a deadline keep to 50 a second, one for each id, and the watch ends with it", async () => {
  const ids = Array.from({ length: 67 }, (_, i) => `id-${i}`);
  const limit = 15_000;
  const seen: string[] = [];
  const reply: Reply = (elapsed, _nth, requestId) => {
    if (elapsed >= limit - ids.length * 20) seen.push(requestId);
    return "PROCESSING";
  };
  const { polls, events, elapsed } = await watching(ids, reply, { timeout: limit });
  expect(Math.min(...gaps(polls))).toBeGreaterThanOrEqual(20);
  expect(polls.at(-1)).toBe(limit);
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(events.filter(({ kind }) => kind === "timeout")).toHaveLength(ids.length);
  expect(elapsed).toBeLessThanOrEqual(limit + 20);
});

test("--interval is exempt: the last polls come all at once", async () => {
  const { polls } = await watching(["a", "b", "c"], () => "PROCESSING", { timeout: 3_000, interval: 2_000 });
  expect(polls).toEqual([0, 0, 0, 2_000, 2_000, 2_000, 3_000, 3_000, 3_000]);
});

test("one id can be watched by its name alone", async () => {
  const { kinds, polls } = await watching("some-id", until(0));
  expect(kinds).toEqual(["state"]);
  expect(polls).toEqual([0]);
});

test("what has ended at the last poll has ended, deadline or not", async () => {
  const { events } = await watching(["a"], until(10 * MINUTE), { timeout: 10 * MINUTE });
  expect(events.at(-1)).toMatchObject({ kind: "state", status: "COMPLETED", final: true });
});

test("no poll before a Retry-After has passed, not even at the deadline", async () => {
  const reply: Reply = (_elapsed, nth) =>
    nth === 1 ? refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 90 }) : "PENDING";
  const { polls, kinds } = await watching(["a"], reply, { timeout: MINUTE });
  expect(polls).toEqual([0]);
  expect(kinds).toEqual(["trouble", "asked-to-wait", "timeout"]);
});

test("an outage of nine minutes is one trouble and one recovery", async () => {
  const reply: Reply = (elapsed) =>
    elapsed > 1_000 && elapsed < 9 * MINUTE ? reset() : elapsed < 9 * MINUTE ? "PROCESSING" : "COMPLETED";
  const { kinds } = await watching([{ requestId: "a", recordedAt: 0 }], reply);
  expect(kinds.filter((kind) => kind !== "unchanged")).toEqual(["state", "trouble", "recovered", "state"]);
});

test("patience ends after ten minutes without a good poll, the time asked for not counted", async () => {
  const reply: Reply = (_elapsed, nth) =>
    nth === 1 ? "PENDING" : nth === 2 ? refuse(503, "BUSY", { "retry-after": 300 }) : reset();
  const { events, elapsed } = await watching(["a"], reply);
  expect(events.at(-1)).toMatchObject({ kind: "given-up", status: "PENDING" });
  expect(elapsed).toBeGreaterThanOrEqual(15 * MINUTE);
  expect(elapsed).toBeLessThan(15 * MINUTE + 5_000);
});

test("an id that nobody here knows, at a service that never answers, gets four tries", async () => {
  const { polls, events } = await watching(["a"], () => reset());
  expect(polls).toHaveLength(4);
  expect(events.at(-1)).toMatchObject({ kind: "given-up" });
});

test("an enveloped 404 ends it, unless this machine made it within the minute", async () => {
  const missing: Reply = (elapsed) => (elapsed < 30_000 ? refuse(404, "REQUEST_NOT_FOUND") : "COMPLETED");
  const foreign = await watching(["a"], missing);
  expect(foreign.kinds).toEqual(["given-up"]);
  const own = await watching([{ requestId: "a", recordedAt: new VirtualClock().now() }], missing);
  expect(own.kinds).toEqual(["trouble", "recovered", "state"]);
});

test("a machine that slept polls at once, before the deadline is judged", async () => {
  const clock = new VirtualClock();
  const server = await faultServer(() =>
    ok({ status: clock.now() > Date.UTC(2030, 0, 1, 5) ? "COMPLETED" : "PENDING" }),
  );
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY, clock });
  started.push(client, server);
  const events: WatchEvent[] = [];
  for await (const event of client.watch(["a"], { interval: HOUR, timeout: 2 * HOUR })) {
    events.push(event);
    if (events.length === 1) void clock.sleep(MINUTE).then(() => clock.suspend(6 * HOUR));
  }
  expect(events.at(-1)).toMatchObject({ kind: "state", status: "COMPLETED" });
});

test("ids may come while the watch runs, and it ends with the last of them", async () => {
  async function* source() {
    yield "a";
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield "b";
  }
  const { events } = await watching(source(), () => "COMPLETED");
  expect(events.flatMap((event) => ("requestId" in event ? event.requestId : []))).toEqual(["a", "b"]);
});

test("aborting ends it with the reason", async () => {
  const controller = new AbortController();
  const watch = watching(
    ["a"],
    () => {
      controller.abort(new Error("enough"));
      return "PENDING";
    },
    { signal: controller.signal },
  );
  await expect(watch).rejects.toThrow("enough");
});
