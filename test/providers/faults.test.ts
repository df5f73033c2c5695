import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { describeFailure } from "../../src/app/describe-failure.js";
import { openResearch } from "../../src/index.js";
import { accountService, addDoubles, addProfile } from "../support/accounts.js";
import type { Behaviour } from "../support/behaviours.js";
import * as does from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, listed, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { connectMcp } from "../support/mcp.js";
import { account } from "../support/providers/account.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { research } from "../support/run.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors } from "../support/world.js";
import { FAULTS, limitOf, NAMES, NEVER_SENT, saying, serviceError } from "./rows.js";

vi.setConfig({ maxConcurrency: 8, testTimeout: 60_000 });

/** A machine that speaks to a double whose creates meet the fault. */
const rig = (name: ProviderName, behaviour: Behaviour) =>
  account(name, { fault: does.only("create", behaviour) }, { "rows.txt": "why" });

type Rig = Awaited<ReturnType<typeof rig>>;

async function commandLine(argv: readonly string[], { env }: Rig, limit: number) {
  const clock = new VirtualClock();
  const seen = await inProcess([...argv, "--json", "--request-timeout", `${limit}ms`], { env, clock });
  return { exit: seen.code, said: seen.stdout + seen.stderr };
}

/** The same with a profile of the provider's name for another double, which meets the same fault. */
async function withProfile(here: Rig): Promise<ProviderDouble> {
  const { provider, options } = here.double;
  const other = await ProviderDouble.start(provider, options);
  await addDoubles(here.env, other);
  return other;
}

/** Creates once by each front end, and gives the exit code that it tells and all that it said. */
const FRONT_ENDS: Record<string, (rig: Rig, limit: number) => Promise<{ exit: unknown; said: string }>> = {
  create: (rig, limit) => commandLine(["create", "why"], rig, limit),
  run: (rig, limit) => commandLine(["run", "why"], rig, limit),
  batch: async (rig, limit) => {
    const argv = ["batch", join(rig.home, "rows.txt"), "--out", join(rig.home, "out"), "--timeout", "30s"];
    const { exit, said } = await commandLine(argv, rig, limit);
    // A batch waits for a rate limit, and gives up a row that would have to wait for too long.
    return { exit: exit === 8 ? 7 : exit, said };
  },
  // One that is nowhere does not keep the others from theirs.
  compare: async (rig, limit) => {
    const { double, env } = rig;
    const spare = await accountService("spare");
    await addDoubles(env, double);
    await addProfile(env, "spare", spare.server.url, "key-of-spare");
    const argv = ["compare", "why", "-p", double.provider, "-p", "spare", "-o", join(rig.home, "out")];
    const outcome = await commandLine(argv, rig, limit);
    expect(spare.posts()).toBe(1);
    return outcome;
  },
  "--or": async (rig, limit) => {
    const other = await withProfile(rig);
    const outcome = await commandLine(["create", "why", "--or", other.provider], rig, limit);
    const hasNothing = outcome.exit === 4 || outcome.exit === 7 || outcome.said.includes("NO_CREDIT");
    expect(other.server.count("create")).toBe(hasNothing ? 1 : 0);
    return outcome;
  },
  "--once": async (rig, limit) => {
    const create = () => commandLine(["create", "why", "--once"], rig, limit);
    const outcome = await create();
    if (outcome.exit === 11) expect((await create()).exit).toBe(11);
    return outcome;
  },
  library: async ({ double, env }, limit) => {
    await using library = openResearch({
      ...{ provider: double.provider, baseUrl: double.url, requestTimeout: limit },
      env: { ...env, RESEARCH_API_KEY: KEY },
    });
    const error = await library.submit("why").catch((thrown: unknown) => thrown);
    return { exit: describeFailure(error).exit_code, said: String(error) };
  },
  MCP: async ({ home, env }, limit) => {
    const client = await connectMcp({ home, env, args: ["--request-timeout", `${limit}ms`] });
    const create = async () => {
      const { content, text } = await client.call("research_create", { prompt: "why" });
      return { exit: (content.error as { exit_code?: number } | undefined)?.exit_code, said: text };
    };
    const outcome = await create();
    // Called again, it does not send again what may have been created.
    if (outcome.exit === 11) expect((await create()).exit).toBe(11);
    await client.close();
    return outcome;
  },
};

/**
 * What a fault means is decided by the provider's dialect, and what follows from that by the front end: `create` meets
 * each fault at each provider, and every other front end meets it at one of them, at all of them in turn. A body that
 * is too large, or an answer that does not end, is given up before any dialect sees it: `create` meets the one at one
 * provider, and one front end the other at each. The soak has every cell (test/soak/vitest.config.ts).
 */
function meets(frontEnd: number, row: number, name: ProviderName): boolean {
  const [what, , , lasts] = FAULTS[row] ?? [];
  if (what === "huge" && frontEnd > 0 && process.env.EVERY_CELL !== "1") return false;
  return (frontEnd === 0 && what !== "huge" && !lasts) || isSampled(frontEnd + row, name);
}

/** Whether a provider is the one of its turn. */
function isSampled(turn: number, name: ProviderName): boolean {
  return process.env.EVERY_CELL === "1" || NAMES[turn % NAMES.length] === name;
}

describe.each(NAMES)("a create at %s", (name) => {
  for (const [row, [what, behaviour, exit, lasts]] of FAULTS.entries()) {
    // Time passes while no request is under way: those that last for their whole limit keep it from the others.
    const testOf = lasts ? test.concurrent : test;
    for (const [frontEnd, createBy] of Object.entries(FRONT_ENDS).filter((_, n) => meets(n, row, name))) {
      testOf(`${what} · ${frontEnd}: ${exit}`, async () => {
        const here = await rig(name, behaviour);
        const outcome = await createBy(here, limitOf(lasts));
        expect(outcome.exit, outcome.said).toBe(exit);
        expect(here.double.server.count("create")).toBe(1);
        const made = (await listed(here.home)).filter(({ origin }) => origin === here.double.url);
        expect(made.map(({ status }) => status)).toEqual(exit === 11 ? ["UNKNOWN"] : []);
        expect(outcome.said).not.toContain(KEY);
        const keyFiles = filesWith(here.home, KEY).filter((file) => !file.endsWith("config/config.json"));
        expect(keyFiles).toEqual([]);
        expect(here.double.problems).toEqual([]);
      });
    }
  }

  test("a torn answer with the id in it counts as created once it can be asked about", async () => {
    const double = await ProviderDouble.start(name);
    const id = double.add({ input: "why", query: "why" });
    const whole = JSON.stringify(double.answerAbout(id, "queued"));
    const cut = whole.indexOf(id) + id.length + 2;
    const torn = await account(name, {
      fault: does.only("create", does.truncate({ body: whole }, cut)),
    });
    torn.double.runs.set(id, double.runs.get(id) as never);
    const seen = await torn.run("create", "why");
    expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(torn.posts()).toBe(1);
  });

  test.each([401, 402, 429])(
    "%i with an id in it is no refusal: created once it can be asked about, else unknown",
    async (status) => {
      const double = await ProviderDouble.start(name);
      const id = double.add({ input: "why", query: "why" });
      const whole = { ...double.answerAbout(id, "queued"), ...JSON.parse(saying("no", "c")) };
      const refusal = does.answer({ status, body: JSON.stringify(whole) });
      const files = { "rows.txt": "why" };
      const here = await account(name, { fault: does.only("create", refusal) }, files);
      const seen = await here.run("create", "why", "--json");
      expect(seen, seen.stderr).toMatchObject({ code: 11, stdout: "" });
      expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "OUTCOME_UNKNOWN", request_id: id }]);
      const batch = ["batch", join(here.home, "rows.txt"), "--out", join(here.home, "out")];
      for (const _ of "12") expect((await here.run(...batch)).code).toBe(11);
      expect(here.posts()).toBe(2);
      here.double.runs.set(id, double.runs.get(id) as never);
      expect(await here.run("create", "why")).toMatchObject({ code: 0, stdout: `${id}\n` });
    },
  );
});

// The way to a service is the same for all of them.
for (const [row, [what, baseUrl, server]] of NEVER_SENT.entries())
  test.each(["create", "run"])(`${what} · %s: 9, and nothing sent`, async (verb) => {
    const double = await ProviderDouble.start(NAMES[row] ?? "exa", server);
    const home = folderWith();
    const environment = { HOME: home, ...foldersIn(home), ...double.env };
    const env = { ...environment, RESEARCH_BASE_URL: baseUrl(double.server.port) };
    const seen = await inProcess([verb, "why", "--json"], { env, clock: new VirtualClock() });
    expect(seen.code, seen.stderr).toBe(9);
    expect(double.server.count()).toBe(0);
    expect(await listed(home)).toEqual([]);
  });

// A sample; `test/soak/providers.soak.ts` has all of them.
test("402 · create, the built program", async () => {
  const { double, home, env } = await rig("exa", serviceError(402));
  const seen = await research(["create", "why", "--json"], { home, env });
  expect(seen.code, seen.stderr).toBe(6);
  expect(double.server.count("create")).toBe(1);
});

/** What a question about a request meets, and the exit codes of status and stop; a watch that goes on has 8. */
const ASKED: [what: string, behaviour: Behaviour, status: number, stop: number, watch: number][] = [
  ["401", serviceError(401), 4, 4, 4],
  ["403", serviceError(403), 4, 4, 4],
  ["404 in its own words", serviceError(404), 5, 5, 5],
  ["402", serviceError(402), 6, 6, 8],
  ["429", serviceError(429), 7, 7, 8],
  ["503 in its own words", serviceError(503), 9, 9, 8],
  ["408 in its own words", serviceError(408), 9, 9, 8],
  ["200 HTML", does.html(200), 9, 9, 8],
  ["reset", does.reset("body"), 9, 9, 8],
  ["200 without a status", does.answer({ body: "{}" }), 9, 9, 8],
];

describe.each(NAMES)("a request at %s", (name) => {
  for (const [row, [what, behaviour, ...exits]] of ASKED.entries())
    for (const [n, verb] of (["status", "stop", "watch"] as const).entries()) {
      // A dialect reads the same words for all three, so the others meet each fault at two providers.
      if (n > 0 && !isSampled(row + n, name) && !isSampled(row + n + 3, name)) continue;
      test(`${what} · ${verb}`, async () => {
        const { double, home, clock, run } = await account(name, {
          fault: (operation) => (operation === (verb === "stop" ? "stop" : "status") ? behaviour : undefined),
        });
        const word = name === "exa" || name === "parallel" ? "running" : "in_progress";
        const prompt = `why => ${word}`;
        const id = double.add({ input: prompt, query: prompt });
        const { origin } = new URL(double.url);
        plant(home, { requestId: id, origin, createdAt: clock.now() - 3_600_000, status: "PROCESSING" });
        const flags = { status: [], stop: ["-y"], watch: ["--timeout", "2m"] }[verb];
        const seen = await run(verb, id, ...flags, "--json");
        const hasNoStop = verb === "stop" && (name === "parallel" || name === "tavily");
        // Gemini answers so about ids that it made itself.
        const isWithheld = name === "gemini" && what === "403" && verb !== "stop";
        const withheld = verb === "watch" ? 8 : 9;
        expect(seen.code, seen.stderr).toBe(hasNoStop ? 6 : isWithheld ? withheld : exits[n]);
        if (hasNoStop) expect(double.server.count()).toBe(0);
        expect(double.server.count("create")).toBe(0);
        expect(seen.stdout + seen.stderr).not.toContain(KEY);
      });
    }
});
