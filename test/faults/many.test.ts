import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { only } from "../support/behaviours.js";
import { gate } from "../support/gate.js";
import { historyLine, homeWith, listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { start, startBash } from "../support/run.js";
import { world } from "../support/world.js";

test("three processes create, list and watch at once, and one of them is killed: nothing is lost", async () => {
  const { service, home, env } = await world();
  const loop = (name: string) =>
    startBash(
      `id=$(research create "${name} => PENDING COMPLETED") || exit; echo $id
       research list > /dev/null || exit; research watch $id --interval 20ms > /dev/null`,
      { home, env },
    );
  const loops = ["a", "b", "victim"].map(loop);
  const victim = loops.at(-1);
  while (service.server.count("create") < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  victim?.kill("SIGKILL");
  const runs = await Promise.all(loops.map(({ done }) => done));
  const survivors = runs.slice(0, -1);
  const endings = survivors.map(({ code, stderr }) => `${code} ${stderr}`);
  expect(endings, endings.join("\n")).toEqual(
    survivors.map(() => expect.stringMatching(/^0 (?!.*skipped)/s)),
  );
  const history = await listed(home, 1_000);
  const knownRequests = history.filter(({ status }) => status !== "UNKNOWN");
  const ids = knownRequests.map(({ request_id }) => request_id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of runs.flatMap(({ stdout }) => stdout.split("\n").filter(Boolean)))
    expect(ids).toContain(id);
  // What the killed one had under way is there, known or unknown.
  expect(history.length).toBeGreaterThanOrEqual(service.conversations.size);
  expect(history.length).toBeLessThanOrEqual(service.conversations.size + 1);
  expect(
    knownRequests
      .filter(({ prompt }) => !prompt.startsWith("victim"))
      .every(({ status }) => status === "COMPLETED"),
  ).toBe(true);
});

test("four processes change the settings at once: each change is there", async () => {
  const { home, env } = homeWith();
  const names = Array.from({ length: 4 }, (_, i) => `profile-${i}`);
  const runs = names.map((name) => {
    const words = ["config", "set", "base-url", `http://127.0.0.1/${name}`, "--profile", name];
    return start(words, { home, env }).done;
  });
  expect((await Promise.all(runs)).map(({ code }) => code)).toEqual(names.map(() => 0));
  for (const name of names) {
    const got = await inProcess(["config", "get", "base-url", "--profile", name], { env });
    expect(got.stdout).toBe(`http://127.0.0.1/${name}\n`);
  }
});

const LINES = 6_000;

test("6,000 lines with torn and foreign ones in them: everything is found", async () => {
  const { service, env, research } = await world();
  mkdirSync(env.RESEARCH_STATE_DIR, { recursive: true });
  const idOf = (i: number) => `many-${String(i).padStart(6, "0")}`;
  const lineOf = (i: number) =>
    historyLine({
      requestId: idOf(i),
      origin: service.url,
      createdAt: 1.7e12 + i * 1_000,
      prompt: `prompt ${i}`,
    }).replace(/"local-[^"]*"/, `"local-${String(i).padStart(6, "0")}"`);
  const lines = Array.from({ length: LINES }, (_, i) => {
    if (i % 100 === 7) return [lineOf(i).slice(0, 60), lineOf(i)];
    if (i % 100 === 13) return ['{"kind":"from-a-later-version"}', "\0\0", lineOf(i)];
    return [lineOf(i)];
  });
  appendFileSync(join(env.RESEARCH_STATE_DIR, "history.jsonl"), `${lines.flat().join("\n")}\n`);
  const run = (...argv: string[]) => research(argv);
  const newest = await run("list", "--json", "--limit", "3");
  expect(JSON.parse(newest.stdout).map((entry: { request_id: string }) => entry.request_id)).toEqual(
    [1, 2, 3].map((i) => idOf(LINES - i)),
  );
  const created = await run("create", "one more");
  expect(created).toMatchObject({ code: 0 });
  const [first] = JSON.parse((await run("list", "--json", "--limit", "1")).stdout);
  expect(first.request_id).toBe(created.stdout.trim());
  expect(JSON.parse((await run("show", idOf(3_007), "--json")).stdout).prompt).toBe("prompt 3007");
  expect(JSON.parse((await run("show", idOf(0), "--json")).stdout).prompt).toBe("prompt 0");
  expect(await run("show", "many-0059")).toMatchObject({ code: 2 });
  const all = await run("list", "--limit", "999999");
  expect(all.stdout.split("\n").length - 1).toBe(LINES + 1);
  expect(all.stderr).toMatch(/\b120 records/);
});

test("a create that waits and one that ends keep out of each other's way", async () => {
  const { opened: held, open: release } = gate();
  const { service, home, env } = await world({
    fault: only("create", { act: async (socket) => held.then(() => void socket.resetAndDestroy()) }, 1),
  });
  const waiting = start(["create", "slow"], { home, env });
  while (service.server.count("create") < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await start(["create", "quick"], { home, env }).done).toMatchObject({ code: 0 });
  expect(await listed(home)).toMatchObject([{ status: "UNKNOWN", prompt: "slow" }, { prompt: "quick" }]);
  release();
  expect(await waiting.done).toMatchObject({ code: 11 });
  expect(await listed(home)).toMatchObject([{ status: "UNKNOWN", prompt: "slow" }, { prompt: "quick" }]);
});
