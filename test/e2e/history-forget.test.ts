import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { History } from "../../src/client/store/history/history.js";
import { KeptResults } from "../../src/client/store/history/kept-results.js";
import { ok } from "../support/behaviours.js";
import { KEY } from "../support/happy-service.js";
import { filesWith, historyLine, plant } from "../support/home.js";
import { listen } from "../support/listen.js";
import { screenHere } from "../support/screen-here.js";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const DAY = 86_400_000;
const id = (n: number) => `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;

/** A machine whose history is below its home, with requests that were made `days` ago. */
async function machine(...requests: { days: number; status?: string; prompt?: string }[]) {
  const rig = await world();
  const origin = rig.service.url;
  for (const [n, { days, ...rest }] of requests.entries())
    plant(rig.home, { requestId: id(n), origin, createdAt: Date.now() - days * DAY, ...rest });
  const run = (...args: string[]) => rig.research(args);
  const ids = async () => {
    const { stdout } = await run("list", "--json", "--limit", "100000");
    return (JSON.parse(stdout) as { request_id: string }[]).map(({ request_id }) => request_id);
  };
  return { ...rig, state: rig.env.RESEARCH_STATE_DIR, run, ids };
}

test("what is forgotten is in no file any more, and the others are as they were", async () => {
  const m = await machine(
    { days: 3, status: "COMPLETED", prompt: "a secret question" },
    { days: 2, status: "FAILED", prompt: "another question" },
  );
  const results = new KeptResults(join(m.state, "results"), () => Date.now());
  for (const n of [0, 1]) results.keep(m.service.url, id(n), `"a result of ${id(n)}"`);
  expect(await m.run("history", "forget", id(0).slice(0, 8))).toMatchObject({
    code: 0,
    stdout: `${id(0)}\tFORGOTTEN\n`,
    stderr: expect.stringMatching(/batch folders are not changed/),
  });
  expect(filesWith(m.home, "a secret question")).toEqual([]);
  expect(filesWith(m.home, id(0))).toEqual([]);
  expect(results.read(m.service.url, id(1))).toContain(id(1));
  expect(await m.ids()).toEqual([id(1)]);
  expect((await m.run("history", "forget", id(0))).code).toBe(5);
  expect(await m.run("history", "forget", id(1), "--json")).toMatchObject({
    stdout: `${JSON.stringify({ forgotten: [{ request_id: id(1), local_id: `local-${id(1).slice(0, 12)}` }], skipped: 0 })}\n`,
  });
  expect(await m.ids()).toEqual([]);
  expect(m.service.server.count()).toBe(0);
});

test("when it was sent, by which account and what it cost stays, without a name", async () => {
  const m = await machine({ days: 0.5, status: "COMPLETED" }, { days: 0.4, status: "FAILED" });
  const usage = { input_tokens: 900, output_tokens: 100 };
  new KeptResults(join(m.state, "results"), () => Date.now()).keep(
    m.service.url,
    id(0),
    JSON.stringify({ usage }),
  );
  const path = join(m.state, "history.jsonl");
  const lines = () => jsonLines(readFileSync(path, "utf8").replaceAll("\n\n", "\n").trimStart());
  const [created] = lines();
  const seen = {
    kind: "status",
    request_id: id(0),
    origin: m.service.url,
    status: "COMPLETED",
    cost_dollars: 1.5,
  };
  appendFileSync(path, `\n${JSON.stringify({ ...seen, at: new Date().toISOString() })}\n`);
  expect((await m.run("history", "forget", id(0))).code).toBe(0);
  const { origin, profile, key_id, at } = created ?? {};
  expect(lines()).toEqual([
    { kind: "forgotten", origin, key_id, profile, at, cost_dollars: 1.5, tokens: 1_000 },
    expect.objectContaining({ kind: "created", request_id: id(1) }),
  ]);
  const account = { origin: m.service.url, apiKey: KEY };
  const { attempts } = new History(m.state, () => Date.now()).countDay(account, 1);
  expect(attempts).toHaveLength(2);
  expect(attempts).toContain(Date.parse(String(at)));
  expect(await m.ids()).toEqual([id(1)]);
});

test("what is unknown, runs or is of the last hour is refused by name, and the others are forgotten", async () => {
  const m = await machine({ days: 3, status: "COMPLETED" }, { days: 3, status: "PROCESSING" });
  const created = (await m.run("create", "x => COMPLETED")).stdout.trim();
  await m.run("watch", created);
  const mixed = await m.run("history", "forget", id(1), id(0), created, "nope-nope", "--json");
  expect(mixed.code).toBe(6);
  expect(jsonErrors(mixed.stderr).map(({ code, exit_code }) => [code, exit_code])).toEqual([
    ["NOT_ALLOWED", 6],
    ["NOT_ALLOWED", 6],
    ["NOT_FOUND", 5],
  ]);
  expect(await m.ids()).toEqual([created, id(1)]);
});

test("what @last or a prefix stands for is refused by its id", async () => {
  const m = await machine({ days: 3, status: "PROCESSING" });
  const prefix = id(0).slice(0, 8);
  const running = await m.run("history", "forget", prefix);
  expect(running.stderr).toContain(`error: ${id(0)} has not ended`);
  const created = (await m.run("create", "x => COMPLETED")).stdout.trim();
  await m.run("watch", created);
  expect((await m.run("history", "forget", "@last")).stderr).toContain(`error: ${created} was sent within`);
  const { stderr } = await m.run("history", "forget", "@last", "--json");
  expect(jsonErrors(stderr)).toMatchObject([{ request_id: created, exit_code: 6 }]);
});

test("--older-than takes what was sent before and has ended, counts the rest, and ends with 0", async () => {
  const m = await machine(
    { days: 40, status: "COMPLETED" },
    { days: 40, status: "PENDING" },
    { days: 35, status: "STOPPED" },
    { days: 20, status: "COMPLETED" },
  );
  const run = await m.run("history", "forget", "--older-than", "30d");
  expect(run).toMatchObject({ code: 0, stdout: `${id(2)}\tFORGOTTEN\n${id(0)}\tFORGOTTEN\n` });
  expect(run.stderr).toContain(
    "1 request is kept because the outcome is unknown, the request has not ended, or it was sent in the last hour",
  );
  expect(await m.ids()).toEqual([id(3), id(1)]);
  expect(await m.run("history", "forget", "--older-than", "30d")).toMatchObject({ code: 0, stdout: "" });
});

test.each([[[]], [["--older-than", "1d", "abcd"]], [["--older-than", "soon"]]])(
  "history forget %j is bad input",
  async (args) => {
    const m = await machine();
    expect((await m.run("history", "forget", ...args)).code).toBe(2);
  },
);

test("on a terminal it asks, naming what would go", async () => {
  const m = await machine({ days: 3, status: "COMPLETED", prompt: "tides?" });
  const asked = screenHere(["history", "forget", "@last"], { home: m.home, env: m.env });
  await asked.waitFor(/00000000-.* COMPLETED +3d 00h +tides\?\n.*Forget this request\?.*\[y\/N\]/s);
  asked.type("n\r");
  expect((await asked.done).code).toBe(2);
  expect(await m.ids()).toEqual([id(0)]);
  expect(
    (await screenHere(["history", "forget", "-y", "@last"], { home: m.home, env: m.env }).done).code,
  ).toBe(0);
  expect(await m.ids()).toEqual([]);
});

test("list --search and --since narrow by prompt and by the time it was sent", async () => {
  const m = await machine(
    { days: 9, prompt: "Why is the sky blue?" },
    { days: 3, prompt: "Blue whales: how long?" },
    { days: 1, prompt: "Red sky" },
  );
  const listed = async (...args: string[]) => {
    const { stdout } = await m.run("list", "--json", ...args);
    return (JSON.parse(stdout) as { request_id: string }[]).map(({ request_id }) => request_id);
  };
  expect(await listed("--search", "blue SKY")).toEqual([id(0)]);
  expect(await listed("--search", "blue")).toEqual([id(1), id(0)]);
  expect(await listed("--since", "4d")).toEqual([id(2), id(1)]);
  expect(await listed("--since", "4d", "--search", "sky")).toEqual([id(2)]);
  const nothing = ["list", "--search", "green"];
  expect(await m.run(...nothing)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  const seen = screenHere(nothing, { home: m.home, env: m.env });
  expect((await seen.done).code).toBe(0);
  expect(seen.text()).toBe("no matching requests");
  expect((await m.run("list", "--since", "-1")).code).toBe(2);
});

test("four processes create while another one forgets: every other record is there", async () => {
  const m = await machine();
  let creating = true;
  const creators = Array.from({ length: 4 }, () => m.start(["create", "x => PROCESSING"]));
  const all = Promise.all(creators.map(({ done }) => done)).finally(() => {
    creating = false;
  });
  let rounds = 0;
  while (creating) {
    // What runs in this process gives no turn to the processes' ends by itself.
    await new Promise((resolve) => setTimeout(resolve, 10));
    plant(m.home, {
      requestId: id(rounds++),
      origin: "http://old",
      createdAt: Date.now() - DAY,
      status: "FAILED",
    });
    expect((await m.run("history", "forget", "--older-than", "1h")).code).toBe(0);
  }
  const made = (await all).map(({ stdout }) => stdout.trim());
  expect(rounds).toBeGreaterThan(1);
  expect(new Set(made).size).toBe(4);
  expect((await m.ids()).sort()).toEqual(made.sort());
  expect((await m.run("list")).stderr).toBe("");
});

test.each(["lock", "draft"])(
  "killed when its %s is there, it leaves the old file or the new one",
  async (stage) => {
    const m = await machine();
    const line = (n: number, days: number) =>
      historyLine({
        requestId: id(n),
        origin: "http://x",
        createdAt: Date.now() - days * DAY,
        status: "COMPLETED",
      });
    const lines = Array.from({ length: 3_000 }, (_, n) => `\n${line(n, n % 2 ? 40 : 1)}\n`);
    mkdirSync(m.state, { recursive: true });
    const path = join(m.state, "history.jsonl");
    writeFileSync(path, lines.join(""));
    const running = m.start(["history", "forget", "--older-than", "30d"]);
    const seen = () => readdirSync(m.state).some((name) => name.endsWith(`.${stage}`));
    while (!seen() && running.child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
    running.kill("SIGKILL");
    await running.done;
    const left = readFileSync(path, "utf8").split("\n").filter(Boolean);
    expect([1_500, 3_000]).toContain(left.length);
    for (const text of left) JSON.parse(text);
    // A process that was killed after it had replaced the file leaves nothing to forget, and then the next one would
    // not take the lock and clear it.
    appendFileSync(path, `${line(3_000, 40)}\n`);
    // The dead process holds up neither a create nor the next one that forgets.
    const created = (await m.run("create", "x => COMPLETED")).stdout.trim();
    expect((await m.run("history", "forget", "--older-than", "30d")).code).toBe(0);
    expect(await m.ids()).toHaveLength(1_501);
    expect((await m.ids())[0]).toBe(created);
    expect(readdirSync(m.state).filter((name) => /lock|draft/.test(name))).toEqual([]);
  },
);

test("a check that runs beside it leaves nothing of the report, nor does a result that comes late", async () => {
  const m = await machine({ days: 1, status: "COMPLETED" });
  let served = () => {};
  const isAsked = new Promise<void>((resolve) => {
    served = resolve;
  });
  let go = () => {};
  const isForgotten = new Promise<void>((resolve) => {
    go = resolve;
  });
  const page = createServer(async (_request, response) => {
    served();
    await isForgotten;
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<p>The secret pool takes 1,600 people.</p>");
  });
  const cited = `http://127.0.0.1:${await listen(page)}/pool`;
  m.service.server.script((operation) =>
    operation === "output"
      ? ok({ request_id: id(0), output: `The secret pool takes 1,600 people ([a](${cited})).` })
      : ok({ request_id: id(0), status: "COMPLETED" }),
  );
  const check = m.run("check", id(0), "--allow-private", "--json");
  await isAsked;
  expect((await m.run("history", "forget", id(0), "-y")).code).toBe(0);
  go();
  const seen = await check;
  expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"verdict":"found"') });
  expect(filesWith(m.home, "secret pool")).toEqual([]);
  const history = new History(m.state, () => Date.now());
  const forgotten = { request_id: id(0), origin: m.service.url };
  history.keep(history.results, forgotten, '{"output":"a secret pool"}');
  expect(filesWith(m.home, "secret pool")).toEqual([]);
  plant(m.home, { requestId: id(1), origin: m.service.url, createdAt: Date.now() });
  history.keep(history.results, { ...forgotten, request_id: id(1) }, '{"output":"a secret pool"}');
  expect(filesWith(m.home, "secret pool")).toHaveLength(1);
});
