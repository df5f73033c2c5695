import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../../../../src/core/clock.js";
import { only, refuse, reset } from "../../../support/behaviours.js";
import { closeLater, Machine, machine, promptsOf } from "../../../support/machine.js";
import { KEY, serviceFor, type TestServiceOptions } from "../../../support/service.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const FREE = ["--tier", "free", "--interval", "2m"];

/** The status of every answer to a create that this process got. */
const answers: number[] = [];
function note(message: unknown): void {
  const { request, response } = message as {
    request: { method: string; path: string };
    response: { statusCode: number };
  };
  if (request.method === "POST" && request.path.endsWith("/conversations")) answers.push(response.statusCode);
}
beforeEach(() => {
  answers.length = 0;
  subscribe("undici:request:headers", note);
});
afterEach(() => {
  unsubscribe("undici:request:headers", note);
});

/** The local service on the free tier, where research takes ten minutes, and a machine for it. */
async function freeTier<C extends Clock>(clock: C, options: TestServiceOptions = {}) {
  const service = await serviceFor({
    ...{ tier: "free", clock, processingMs: 10 * MINUTE, workers: 100 },
    ...options,
  });
  closeLater(() => service.close());
  const env = { RESEARCH_BASE_URL: service.baseUrl, RESEARCH_API_KEY: KEY };
  return { env, m: new Machine({ env }, clock) };
}

const prompts = (count: number, what = "question") =>
  Array.from({ length: count }, (_, i) => `${what} ${i + 1}\n`).join("");

test("21 prompts under 10 an hour, each of ten minutes: 130 minutes, and no 429", async () => {
  // What is loaded on first use takes real time, in which virtual time must not pass.
  const warm = await freeTier(new VirtualClock());
  await warm.m.run("batch", warm.m.file("w.txt", prompts(1)), "--out", warm.m.path("w"));
  answers.length = 0;
  const clock = new VirtualClock();
  const { m } = await freeTier(clock);
  const path = m.file("q.txt", prompts(21));
  const start = clock.now();
  const { code, stderr } = await m.batch(path, ...FREE);
  const minutes = (clock.now() - start) / MINUTE;
  expect([code, answers]).toEqual([0, Array(21).fill(200)]);
  expect(minutes).toBeGreaterThanOrEqual(130);
  expect(minutes).toBeLessThan(132);
  expect(m.results("out")).toHaveLength(21);
  expect(m.listed("out").map(({ status }) => status)).toEqual(Array(21).fill("COMPLETED"));
  expect(stderr).toMatch(/the hourly limit is reached; nothing is sent for 1h 00m, until 2030-01-01T01:00:/);
  expect(stderr).toMatch(/21 of 21 done, 0 running, 0 waiting; it took /);
});

test("two batches that share one key keep below its limit together", async () => {
  const clock = new VirtualClock();
  const { m } = await freeTier(clock);
  const start = clock.now();
  const batches = ["a", "b"].map((name) =>
    m.run("batch", m.file(`${name}.txt`, prompts(11, name)), "--out", m.path(name), ...FREE),
  );
  expect((await Promise.all(batches)).map(({ code }) => code)).toEqual([0, 0]);
  expect(answers).toEqual(Array(22).fill(200));
  expect((clock.now() - start) / MINUTE).toBeGreaterThanOrEqual(130);
  expect((clock.now() - start) / MINUTE).toBeLessThan(132);
});

test("creates beside the batch count, and unknown outcomes too", async () => {
  const m = await machine({
    fault: only("create", reset(), 2),
  });
  const start = m.clock.now();
  for (const prompt of ["lost", "lost too"]) expect((await m.run("create", prompt)).code).toBe(11);
  const path = m.file("q.txt", prompts(2));
  expect((await m.batch(path, "--per-hour", "3")).code).toBe(0);
  expect(m.clock.now() - start).toBeGreaterThanOrEqual(HOUR);
  expect(m.creates()).toBe(4);
});

test("with no tier set each 429 is waited out, is said with the flag that keeps below it, and fails no row", async () => {
  const clock = new VirtualClock();
  const { m } = await freeTier(clock);
  const path = m.file("q.txt", prompts(21));
  const { code, stderr } = await m.batch(path, "--interval", "2m");
  expect(code).toBe(0);
  expect(answers.filter((status) => status === 429)).toHaveLength(2);
  expect(answers.filter((status) => status === 200)).toHaveLength(21);
  expect(
    stderr.match(
      /the hourly limit is reached; nothing is sent for .*; to stay below the limit, pass --per-hour N\n/g,
    ),
  ).toHaveLength(1);
  expect(m.listed("out").map(({ status }) => status)).toEqual(Array(21).fill("COMPLETED"));
});

test("where others filled the hour, the 429 pauses the batch for its Retry-After", async () => {
  const clock = new VirtualClock();
  const { m, env } = await freeTier(clock);
  const other = new Machine({ env }, clock);
  for (let i = 0; i < 10; i++) await other.run("create", `other ${i}`);
  await clock.sleep(30 * MINUTE);
  const start = clock.now();
  const path = m.file("q.txt", prompts(3));
  const { code, stderr } = await m.batch(path, "--json");
  expect(code).toBe(0);
  expect(stderr).toMatch(/"WAITING_FOR_QUOTA".*nothing is sent for (29|30)m/);
  expect((clock.now() - start) / MINUTE).toBeGreaterThan(39);
  expect((clock.now() - start) / MINUTE).toBeLessThan(42);
});

test("a 429 without a word pauses for at least a minute, and asks again", async () => {
  const m = await machine({
    fault: (operation, nth) =>
      operation === "create" && nth > 1 && nth < 4 ? refuse(429, "RATE_LIMIT_EXCEEDED") : undefined,
  });
  const path = m.file("q.txt", prompts(2));
  const start = m.clock.now();
  expect((await m.batch(path, "--tier", "pro")).code).toBe(0);
  expect(m.creates()).toBe(4);
  expect(promptsOf(m.service).slice(1)).toEqual(Array(3).fill("question 2"));
  expect(m.clock.now() - start).toBeGreaterThanOrEqual(HOUR + MINUTE);
});

test("a wait that the service asks for in its polls is announced with its end", async () => {
  const limited = refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 7 });
  const m = await machine({ fault: only("status", limited, 1) });
  const { code, stderr } = await m.batch(m.file("q.txt", "one => COMPLETED"));
  expect(code).toBe(0);
  expect(stderr).toMatch(/polling goes on in 7s \(until 2030-01-01T00:00:\d\d\.\d{3}Z\)/);
});
