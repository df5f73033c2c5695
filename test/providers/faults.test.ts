import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { openResearch } from "../../src/index.js";
import { failureOf } from "../../src/machine/failure.js";
import type { Behaviour } from "../support/behaviours.js";
import * as does from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, listed, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { connectMcp } from "../support/mcp.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { research } from "../support/run.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { FAULTS, limitOf, NAMES, NEVER_SENT, own } from "./rows.js";

vi.setConfig({ maxConcurrency: 8, testTimeout: 60_000 });

describe.each(NAMES)("a create at %s", (name) => {
  for (const [what, behaviour, exit, lasts] of FAULTS)
    for (const verb of ["create", "run", "batch"] as const)
      test.concurrent(`${what} · ${verb}: ${exit}`, async () => {
        const double = await ProviderDouble.start(name, {
          fault: (operation) => (operation === "create" ? behaviour : undefined),
        });
        const home = folderWith({ "rows.txt": "why" });
        const env = { HOME: home, ...foldersIn(home), ...double.env };
        const argv = {
          create: ["create", "why"],
          run: ["run", "why"],
          batch: ["batch", join(home, "rows.txt"), "--out", join(home, "out"), "--timeout", "30s"],
        }[verb];
        const seen = await inProcess([...argv, "--json", "--request-timeout", limitOf(lasts)], {
          env,
          clock: new VirtualClock(),
        });
        // A batch waits for a rate limit, and gives up a row that would have to wait for too long.
        const code = verb === "batch" && exit === 7 ? 8 : exit;
        expect(seen.code, seen.stderr).toBe(code);
        expect(double.server.count("create")).toBe(1);
        expect((await listed(home)).map(({ status }) => status)).toEqual(exit === 11 ? ["UNKNOWN"] : []);
        expect(seen.stdout + seen.stderr).not.toContain(KEY);
        expect(filesWith(home, KEY)).toEqual([]);
        expect(double.problems).toEqual([]);
      });

  for (const [what, baseUrl, server] of NEVER_SENT)
    for (const verb of ["create", "run"])
      test.concurrent(`${what} · ${verb}: 9, and nothing sent`, async () => {
        const double = await ProviderDouble.start(name, server);
        const home = folderWith();
        const env = {
          HOME: home,
          ...foldersIn(home),
          ...double.env,
          RESEARCH_BASE_URL: baseUrl(double.server.port),
        };
        const seen = await inProcess([verb, "why", "--json"], { env });
        expect(seen.code, seen.stderr).toBe(9);
        expect(double.server.count()).toBe(0);
        expect(await listed(home)).toEqual([]);
      });

  test.concurrent("each fault · library: one POST, and the same exit code", async () => {
    let behaviour: Behaviour | undefined;
    const double = await ProviderDouble.start(name, {
      fault: (operation) => (operation === "create" ? behaviour : undefined),
    });
    const home = folderWith();
    for (const [what, fault, exit, lasts] of FAULTS) {
      behaviour = fault;
      await using library = openResearch({
        ...{ provider: name, baseUrl: double.url, requestTimeout: lasts ? 2_000 : 10_000 },
        env: { ...foldersIn(home), RESEARCH_API_KEY: KEY },
      });
      const before = double.server.count("create");
      const error = await library.submit(`why ${what}`).catch((thrown: unknown) => thrown);
      expect([what, failureOf(error).exit_code]).toEqual([what, exit]);
      expect(double.server.count("create") - before).toBe(1);
    }
    behaviour = undefined;
    await using library = openResearch({
      ...{ provider: name, baseUrl: double.url, env: { ...foldersIn(home), RESEARCH_API_KEY: KEY } },
    });
    expect(await library.run("why")).toContain("An answer to: why");
    expect(double.problems).toEqual([]);
    expect(filesWith(home, KEY)).toEqual([]);
  });

  test.concurrent("each fault · MCP: one POST, the same exit code, and an unknown one is not sent again", async () => {
    let behaviour: Behaviour | undefined;
    const double = await ProviderDouble.start(name, {
      fault: (operation) => (operation === "create" ? behaviour : undefined),
    });
    const home = folderWith();
    const env = { HOME: home, ...foldersIn(home), ...double.env };
    const client = await connectMcp({ home, env, args: ["--request-timeout", "2s"] });
    for (const [what, fault, exit] of FAULTS) {
      behaviour = fault;
      const before = double.server.count("create");
      const create = () => client.call("research_create", { prompt: `why ${what}` });
      const { content } = await create();
      expect([what, content]).toMatchObject([what, { error: { exit_code: exit } }]);
      if (exit === 11) expect((await create()).content).toMatchObject({ error: { exit_code: 11 } });
      expect([what, double.server.count("create") - before]).toEqual([what, 1]);
    }
    expect(filesWith(home, KEY)).toEqual([]);
    await client.close();
  });

  // A sample; `test/soak/providers.soak.ts` has all of them.
  test.concurrent.each(["reset after the body", "503 in its own words", "402"])(
    "%s · create, the built program",
    async (what) => {
      const [, behaviour, exit] = FAULTS.find(([known]) => known === what) ?? expect.fail(what);
      const double = await ProviderDouble.start(name, {
        fault: (operation) => (operation === "create" ? behaviour : undefined),
      });
      const home = folderWith();
      const seen = await research(["create", "why", "--json"], {
        home,
        env: { ...foldersIn(home), ...double.env },
      });
      expect(seen.code, seen.stderr).toBe(exit);
      expect(double.server.count("create")).toBe(1);
    },
  );

  test("a torn answer with the id in it counts as created once it can be asked about", async () => {
    const double = await ProviderDouble.start(name);
    const id = double.add({ input: "why", query: "why" });
    const whole = JSON.stringify(double.answerAbout(id, "queued"));
    const cut = whole.indexOf(id) + id.length + 2;
    const torn = await ProviderDouble.start(name, {
      fault: (operation) => (operation === "create" ? does.truncate({ body: whole }, cut) : undefined),
    });
    torn.runs.set(id, double.runs.get(id) as never);
    const home = folderWith();
    const env = { HOME: home, ...foldersIn(home), ...torn.env };
    const seen = await inProcess(["create", "why"], { env, clock: new VirtualClock() });
    expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(torn.server.count("create")).toBe(1);
  });
});

/** What a question about a request meets, and the exit codes of status and stop; a watch that goes on has 8. */
const ASKED: [what: string, behaviour: Behaviour, status: number, stop: number, watch: number][] = [
  ["401", own(401), 4, 4, 4],
  ["403", own(403), 4, 4, 4],
  ["404 in its own words", own(404), 5, 5, 5],
  ["402", own(402), 6, 6, 8],
  ["429", own(429), 7, 7, 8],
  ["503 in its own words", own(503), 9, 9, 8],
  ["408 in its own words", own(408), 9, 9, 8],
  ["200 HTML", does.html(200), 9, 9, 8],
  ["reset", does.reset("body"), 9, 9, 8],
  ["200 without a status", does.answer({ body: "{}" }), 9, 9, 8],
];

describe.each(NAMES)("a request at %s", (name) => {
  for (const [what, behaviour, ...exits] of ASKED)
    for (const [n, verb] of (["status", "stop", "watch"] as const).entries())
      test.concurrent(`${what} · ${verb}`, async () => {
        const double = await ProviderDouble.start(name, {
          fault: (operation) => (operation === (verb === "stop" ? "stop" : "status") ? behaviour : undefined),
        });
        const word = name === "exa" || name === "parallel" ? "running" : "in_progress";
        const prompt = `why => ${word}`;
        const id = double.add({ input: prompt, query: prompt });
        const home = folderWith();
        const clock = new VirtualClock();
        const { origin } = new URL(double.url);
        plant(home, { requestId: id, origin, createdAt: clock.now() - 3_600_000, status: "PROCESSING" });
        const env = { HOME: home, ...foldersIn(home), ...double.env };
        const flags = { status: [], stop: ["-y"], watch: ["--timeout", "2m"] }[verb];
        const seen = await inProcess([verb, id, ...flags, "--json"], { env, clock });
        const hasNoStop = verb === "stop" && name === "parallel";
        expect(seen.code, seen.stderr).toBe(hasNoStop ? 6 : exits[n]);
        if (hasNoStop) expect(double.server.count()).toBe(0);
        expect(double.server.count("create")).toBe(0);
        expect(seen.stdout + seen.stderr).not.toContain(KEY);
      });
});
