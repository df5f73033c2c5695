import { expect, test } from "vitest";
import { ResearchClient } from "../../src/client/calls/research-client.js";
import * as does from "../support/behaviours.js";
import { faultServer, type Script } from "../support/fault-server.js";
import { KEY } from "../support/happy-service.js";
import { plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { quiet } from "../support/quiet.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { worldOf } from "../support/world.js";
import { ID } from "./plays.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const state = (status: string) => does.ok({ request_id: ID, status });

interface Options {
  /** Milliseconds since this machine created it; undefined: it did not. */
  age?: number;
  flags?: string[];
  /** Milliseconds for which the machine sleeps while the watch waits for its second poll. */
  sleeps?: number;
}

/** A watch in virtual time; `script` says what each poll gets. */
async function watching(script: Script, { age, flags = [], sleeps }: Options = {}) {
  const clock = new VirtualClock();
  const begin = clock.monotonic();
  const polls: number[] = [];
  const { server, home, env } = await worldOf((operation, nth, request) => {
    polls.push(clock.monotonic() - begin);
    return script(operation, nth, request);
  });
  if (age !== undefined) plant(home, { requestId: ID, origin: server.url, createdAt: clock.now() - age });
  if (sleeps !== undefined) void clock.sleep(10).then(() => clock.suspend(sleeps));
  const run = await inProcess(["watch", ID, "--json", ...flags], { env, clock });
  await server.close();
  const lines = run.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { status: string });
  return { ...run, polls, states: lines.map(({ status }) => status), elapsed: clock.monotonic() - begin };
}

const unknown = does.refuse(404, "REQUEST_NOT_FOUND");

test("cell: 404 REQUEST_NOT_FOUND, created 10 s ago · watch", async () => {
  const seen = await watching((_, nth) => (nth < 6 ? unknown : state("COMPLETED")), { age: 10 * SECOND });
  expect(seen).toMatchObject({ code: 0, states: ["COMPLETED"] });
});

test("cell: 404 REQUEST_NOT_FOUND for ever, created 10 s ago · watch", async () => {
  const seen = await watching(() => unknown, { age: 10 * SECOND });
  expect(seen).toMatchObject({ code: 5 });
  expect(seen.elapsed).toBeGreaterThanOrEqual(50 * SECOND);
  expect(seen.elapsed).toBeLessThan(80 * SECOND);
});

test("cell: 404 REQUEST_NOT_FOUND, created elsewhere · watch", async () => {
  const seen = await watching(() => unknown);
  expect(seen).toMatchObject({ code: 5 });
  expect(seen.polls).toHaveLength(1);
});

test("cell: resets, created elsewhere, never answered · watch", async () => {
  const seen = await watching(() => does.reset());
  expect(seen).toMatchObject({ code: 9 });
  expect(seen.polls).toHaveLength(4);
});

test("cell: resets, created elsewhere, answered once · watch", async () => {
  const seen = await watching((_, nth) => (nth === 1 ? state("PENDING") : does.reset()));
  expect(seen).toMatchObject({ code: 9 });
  expect(seen.elapsed).toBeGreaterThanOrEqual(10 * MINUTE);
});

test("cell: 401 after good answers · watch", async () => {
  const seen = await watching((_, nth) => (nth < 3 ? state("PENDING") : does.refuse(401, "INVALID_API_KEY")));
  expect(seen).toMatchObject({ code: 4 });
  expect(seen.stderr).toContain(`research watch ${ID}`);
});

test("cell: a status nobody knows · watch", async () => {
  const seen = await watching((_, nth) => state(nth < 9 ? "PONDERING" : "COMPLETED"));
  expect(seen).toMatchObject({ code: 0, states: ["PONDERING", "COMPLETED"] });
  expect(seen.polls).toHaveLength(9);
});

test("cell: status goes backwards · watch", async () => {
  const steps = ["PROCESSING", "PENDING", "PROCESSING", "COMPLETED"];
  const seen = await watching((_, nth) => state(steps[nth - 1] ?? ""));
  expect(seen).toMatchObject({ code: 0, states: steps });
});

test("cell: status goes backwards · status", async () => {
  const { server, home, env } = await worldOf(() => state("PENDING"));
  plant(home, { requestId: ID, origin: server.url, createdAt: Date.now() - MINUTE, status: "COMPLETED" });
  expect(await inProcess(["status", ID], { env })).toMatchObject({ code: 0, stdout: `${ID}\tPENDING\n` });
});

test("cell: the machine sleeps beyond the deadline · watch", async () => {
  const script: Script = (_, nth) => state(nth === 1 ? "PROCESSING" : "COMPLETED");
  const options = { age: 2 * 60 * MINUTE, flags: ["--timeout", "1h"], sleeps: 3 * 60 * MINUTE };
  const seen = await watching(script, options);
  expect(seen).toMatchObject({ code: 0, states: ["PROCESSING", "COMPLETED"] });
  // At once, not when the planned wait of 30 s is over.
  expect(seen.polls[1]).toBeLessThan(5 * SECOND);
});

test("cell: the wall clock is set back a day · watch", async () => {
  const script: Script = (_, nth) => state(nth < 4 ? "PROCESSING" : "COMPLETED");
  const seen = await watching(script, { age: MINUTE, sleeps: -24 * 60 * MINUTE });
  expect(seen).toMatchObject({ code: 0 });
  expect(seen.elapsed).toBeLessThan(MINUTE);
});

test("cell: a stale keep-alive socket · create", async () => {
  const server = await faultServer((operation) => (operation === "create" ? state("PENDING") : state("X")));
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY });
  for (let i = 0; i < 3; i++) await client.create({ prompt: "x" });
  await client.status(ID);
  // A connection is free again a moment after its answer has been given.
  await quiet();
  await client.status(ID);
  await client.close();
  const connections = server.of("create").map(({ connection }) => connection);
  expect(new Set(connections).size).toBe(3);
  expect(new Set(server.of("status").map(({ connection }) => connection)).size).toBe(1);
});

test("cell: a stale keep-alive socket · status", async () => {
  let last = 0;
  // Whatever comes second on a connection meets a peer that has just given it up.
  const server = await faultServer((_operation, _nth, { connection }) => {
    const stale = connection === last;
    last = connection;
    return stale ? does.reset() : state("PENDING");
  });
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY });
  await client.status(ID);
  // A connection is free again a moment after its answer has been given.
  await quiet();
  expect(await client.status(ID)).toMatchObject({ status: "PENDING" });
  expect(server.of("status").map(({ connection }) => connection)).toEqual([1, 1, 2]);
  await client.close();
});

test.each([
  { answer: does.html(503), times: [0, 500, 1_500, 4_000] },
  { answer: does.reset(), times: [0, 500, 1_500, 4_000] },
  { answer: does.html(503, { "retry-after": 10 }), times: [0, 10_000, 20_000, 30_000] },
  { answer: does.html(503, { "retry-after": 30 }), times: [0, 30_000, 60_000, 90_000] },
  { answer: does.html(503, { "retry-after": 31 }), times: [0] },
])("cell: tries of a status at $times ms · status", async ({ answer, times }) => {
  const clock = new VirtualClock();
  const begin = clock.monotonic();
  const seen: number[] = [];
  const { env } = await worldOf(() => {
    seen.push(Math.round(clock.monotonic() - begin));
    return answer;
  });
  expect(await inProcess(["status", ID], { env, clock })).toMatchObject({ code: 9 });
  expect(seen).toEqual(times);
});
