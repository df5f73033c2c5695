import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeFailure } from "../../src/app/describe-failure.js";
import { openResearch } from "../../src/index.js";
import { accounts, addDoubles } from "../support/accounts.js";
import { type Behaviour, ok, only, refuse, reset } from "../support/behaviours.js";
import { listed } from "../support/home.js";
import { connectMcp } from "../support/mcp.js";
import { ProviderDouble } from "../support/providers/double.js";
import { start } from "../support/run.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";

const PROMPT = "How do tides form?";
const DAY = 86_400_000;

/** An answer for which the commands that start meanwhile have to wait. */
const late = (behaviour: Behaviour, ms = 1_000): Behaviour => ({
  async act(socket, request) {
    await delay(ms);
    await behaviour.act(socket, request);
  },
});

test("--once uses the request of the last 24 hours, and says so", async () => {
  const clock = new VirtualClock();
  const { run, posts } = await accounts({ one: undefined }, clock);
  expect((await run("create", PROMPT)).stdout).toBe("one-1\n");
  const again = await run("create", PROMPT, "--once", "--json");
  expect(again).toMatchObject({ code: 0 });
  expect(JSON.parse(again.stdout)).toMatchObject({ request_id: "one-1", reused: true, prompt: PROMPT });
  expect(jsonLines(again.stderr)).toMatchObject([{ notice: { code: "REUSED" } }]);
  expect(await run("run", PROMPT, "--once")).toMatchObject({ code: 0, stdout: "the report of one" });
  expect((await run("create", "another", "--once")).stdout).toBe("one-2\n");
  await clock.sleep(DAY - 1_000);
  expect((await run("create", PROMPT, "--once")).stdout).toBe("one-1\n");
  expect((await run("create", PROMPT, "--once", "--within", "2h")).stdout).toBe("one-3\n");
  await clock.sleep(DAY + 1_000);
  expect((await run("create", PROMPT, "--once")).stdout).toBe("one-4\n");
  expect(posts()).toEqual([4]);
});

test.each([
  ["FAILED", 2],
  ["STOPPED", 2],
  ["COMPLETED", 1],
])("--once after %s makes %i in all", async (status, count) => {
  const { run, posts } = await accounts({
    one: only("status", ok({ request_id: "one-1", status })),
  });
  await run("create", PROMPT, "-w");
  await run("create", PROMPT, "--once");
  expect(posts()).toEqual([count]);
});

test("--once uses one that was cut short, which ends as it did", async () => {
  const { run, succeed, env } = await accounts({});
  const double = await ProviderDouble.start("openai");
  await addDoubles(env, double);
  await run("config", "use", "openai");
  for (let nth = 0; nth < 2; nth++) expect((await run("run", "q => incomplete", "--once")).code).toBe(3);
  await succeed("create", "q => incomplete", "--once");
  expect(double.server.count("create")).toBe(1);
});

test("--once with an unknown one, of any age and at any of the accounts, is 11 and sends nothing", async () => {
  const clock = new VirtualClock();
  const { run, posts, home } = await accounts({ one: undefined, two: only("create", reset()) }, clock);
  expect((await run("create", PROMPT, "-p", "two")).code).toBe(11);
  await clock.sleep(40 * DAY);
  const seen = await run("create", PROMPT, "--once", "--or", "two", "--json");
  expect(seen.code).toBe(11);
  const [entry] = await listed(home);
  expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "OUTCOME_UNKNOWN", local_id: entry?.local_id }]);
  expect(posts()).toEqual([0, 1]);
  await run("resolve", String(entry?.local_id), "--not-created");
  expect(await run("create", PROMPT, "--once", "--or", "two")).toMatchObject({ stdout: "one-1\n" });
});

test("--once with --or counts a request at any of the accounts, whatever their order", async () => {
  const { run, posts } = await accounts({ one: undefined, two: undefined });
  await run("create", PROMPT, "-p", "two");
  expect(await run("create", PROMPT, "--once", "--or", "two")).toMatchObject({ code: 0, stdout: "two-1\n" });
  expect(await run("run", PROMPT, "--once", "-p", "two", "--or", "one")).toMatchObject({
    stdout: "the report of two",
  });
  expect(posts()).toEqual([0, 1]);
});

test("eight processes at the same moment make one POST, also with --or in both orders", async () => {
  const { home, env, posts } = await accounts({
    one: only("create", refuse(401, "INVALID_API_KEY")),
    two: only("create", late(ok({ request_id: "two-1", status: "PENDING" }))),
  });
  const runs = Array.from({ length: 8 }, (_, nth) => {
    const flags = nth % 2 ? ["-p", "two", "--or", "one"] : ["-p", "one", "--or", "two"];
    return start(["create", PROMPT, "--once", ...flags], { home, env });
  });
  const ended = await Promise.all(runs.map(({ done }) => done));
  expect(
    ended.map(({ code, stdout }) => `${code} ${stdout}`),
    ended.map(({ stderr }) => stderr).join(""),
  ).toEqual(Array(8).fill("0 two-1\n"));
  expect(posts()[1]).toBe(1);
});

test("--once says that it waits for another command, if that takes a while", async () => {
  const created = late(ok({ request_id: "one-1", status: "PENDING" }), 3_000);
  const { home, env, posts } = await accounts({ one: only("create", created) });
  const runs = ["", ""].map(() => start(["create", PROMPT, "--once", "--json"], { home, env }));
  const notices = (await Promise.all(runs.map(({ done }) => done))).map(({ stderr }) => jsonLines(stderr));
  expect(notices.sort((a, b) => a.length - b.length)).toMatchObject([
    [],
    [
      { notice: { code: "UNDER_WAY", message: expect.stringMatching(/until \S+Z at most$/) } },
      { notice: { code: "REUSED" } },
    ],
  ]);
  expect(posts()).toEqual([1]);
});

test("with the history off, --once and a limit of the day refuse the create", async () => {
  const { run, env, posts } = await accounts({ one: undefined });
  env.RESEARCH_NO_HISTORY = "1";
  for (const flags of [["--once"], ["--per-day", "5"]]) {
    const seen = await run("create", PROMPT, ...flags, "--json");
    expect(seen.code).toBe(6);
    expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "NOT_ALLOWED" }]);
  }
  expect(posts()).toEqual([0]);
});

test("per-day: what was made or is unknown counts, what was refused does not, and the sentence says all", async () => {
  const clock = new VirtualClock();
  const answers = [refuse(400, "VALIDATION_ERROR"), refuse(401, "INVALID_API_KEY"), reset()];
  const { run, succeed, posts, services, env } = await accounts(
    { one: (operation, nth) => (operation === "create" ? answers[nth - 1] : undefined) },
    clock,
  );
  const codes = [];
  for (let nth = 0; nth < 4; nth++) codes.push((await run("create", `q${nth}`, "--per-day", "2")).code);
  expect(codes).toEqual([2, 4, 11, 0]);
  env.RESEARCH_PER_DAY = "2";
  await run("config", "set", "per-day", "7");
  const full = await run("create", "q5", "--per-day", "3", "--json");
  expect(full.code).toBe(7);
  const [error] = jsonErrors(full.stderr);
  expect(error).toMatchObject({ code: "DAY_LIMIT" });
  for (const part of [
    "2 creates in 24 hours",
    services.one?.server.url,
    "profile one",
    "RESEARCH_PER_DAY",
    "T",
  ])
    expect(error?.message).toContain(part);
  expect(posts()).toEqual([4]);
  await clock.sleep(DAY - 60_000);
  expect((await run("create", "q6")).code).toBe(7);
  await clock.sleep(62_000);
  await succeed("create", "q7");
});

test("eight processes at the same moment make no more than per-day allows", async () => {
  const { home, env, posts } = await accounts({
    one: (operation, nth) =>
      operation === "create" ? late(ok({ request_id: `one-${nth}`, status: "PENDING" })) : undefined,
  });
  const runs = Array.from({ length: 8 }, (_, nth) =>
    start(["create", `q${nth}`, "--per-day", "3"], { home, env }),
  );
  const codes = (await Promise.all(runs.map(({ done }) => done))).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 0, 0, 7, 7, 7, 7, 7]);
  expect(posts()).toEqual([3]);
});

test("per-day holds for a rerun, for agents and for the library, unsent", async () => {
  const { run, home, env, posts } = await accounts({ one: undefined });
  await run("create", PROMPT);
  env.RESEARCH_PER_DAY = "1";
  expect((await run("rerun", "@last")).code).toBe(7);
  expect((await run("run", "another")).code).toBe(7);
  const client = await connectMcp({ home, env });
  const { content } = await client.call("research_create", { prompt: "another" });
  expect(content.error).toMatchObject({ code: "DAY_LIMIT", exit_code: 7 });
  const quota = await client.call("research_quota");
  expect(quota.content).toMatchObject({
    day: { used: 1, left: 0, limit: 1 },
    spent: [{ requests: 1 }, {}, {}],
  });
  await client.close();
  await using library = openResearch({ env });
  const error = await library.submit("another").catch((thrown: unknown) => thrown);
  expect(describeFailure(error)).toMatchObject({ code: "DAY_LIMIT", exit_code: 7 });
  for (const perDay of [0, -1, 1.5]) {
    await using other = openResearch({ env, perDay });
    await expect(other.submit("another")).rejects.toMatchObject({ code: "USAGE" });
  }
  expect(posts()).toEqual([1]);
});

test("per-day of the profile holds, --or does not go past it, and --wait-for-quota waits for it", async () => {
  const clock = new VirtualClock();
  const { run, succeed, posts, home } = await accounts({ one: undefined, two: undefined }, clock);
  await run("config", "set", "per-day", "1");
  expect((await run("config", "get", "per-day")).stdout).toBe("1\n");
  await run("create", "first");
  expect((await run("create", PROMPT, "--or", "two")).code).toBe(7);
  expect(posts()).toEqual([1, 0]);
  const before = clock.now();
  await succeed("create", PROMPT, "--wait-for-quota");
  expect(clock.now() - before).toBeGreaterThan(DAY - 60_000);
  writeFileSync(join(home, "q.txt"), "one row");
  const { stderr } = await succeed("batch", join(home, "q.txt"), "--out", join(home, "out"));
  expect(clock.now() - before).toBeGreaterThan(2 * DAY - 120_000);
  expect(stderr).toMatch(/a limit of creates is reached; nothing is sent for 1d 00h, until [^;\n]*\n/);
  // The limit of the account that is gone on to holds as well.
  await run("config", "set", "per-day", "1", "-p", "two");
  await run("create", "second", "-p", "two");
  expect((await run("create", "third", "-p", "two")).code).toBe(7);
});

test.each(["0", "-1", "x", "1.5"])(
  "per-day %s is invalid, in the environment and in the settings",
  async (text) => {
    const { run, env } = await accounts({ one: undefined });
    expect((await run("config", "set", "per-day", "--", text)).code).toBe(2);
    env.RESEARCH_PER_DAY = text;
    const seen = await run("create", PROMPT);
    expect(seen.code).toBe(2);
    expect(seen.stderr).toContain("RESEARCH_PER_DAY");
  },
);
