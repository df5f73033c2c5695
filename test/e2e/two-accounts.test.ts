import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesWith, homeWith, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { connectMcp } from "../support/mcp.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";

/** A person who logged in to these providers' doubles, one after the other; each has a key of its own. */
async function loggedIn(...names: ProviderName[]) {
  const person = homeWith<Record<string, string>>({}, { clock: new VirtualClock() });
  const doubles = {} as Record<ProviderName, ProviderDouble>;
  for (const name of names) {
    const key = `key-of-${name}-1234`;
    doubles[name] = await ProviderDouble.start(name, { key });
    const login = ["login", name, "--base-url", doubles[name].url, "--with-key"];
    const seen = await inProcess(login, { env: person.env, input: key });
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
  }
  return { ...person, doubles };
}

describe.each<[first: ProviderName, second: ProviderName]>([
  ["openai", "exa"],
  ["exa", "openai"],
  ["perplexity", "parallel"],
])("after login %s and login %s", (first, second) => {
  test("each request goes to the account that made it, with -p and without", async () => {
    const { succeed, run, doubles, home } = await loggedIn(first, second);
    const ids = new Map<ProviderName, string>();
    for (const name of [first, second] as const) {
      const flags = name === second ? [] : ["-p", name];
      ids.set(name, (await succeed("create", `why ${name}`, ...flags)).stdout.trim());
    }
    for (const [name, id] of ids)
      for (const flags of [[], ["-p", name]]) {
        const other = name === first ? second : first;
        const before = doubles[other].server.count();
        expect((await succeed("status", id, ...flags)).stdout).toMatch(new RegExp(`^${id}\\t`));
        expect((await succeed("watch", id, ...flags)).stdout).toBe(`${id}\tCOMPLETED\n`);
        expect((await succeed("output", id, ...flags)).stdout).toContain(`An answer to: why ${name}`);
        await succeed("check", id, "--dry-run", ...flags);
        const stopped = (await succeed("create", "why => queued", "-p", name)).stdout.trim();
        const seen = await run("stop", stopped, "-y", ...flags);
        if (name === "parallel") expect(seen).toMatchObject({ code: 6 });
        else expect(seen.stdout).toBe(`${stopped}\tSTOPPED\n`);
        expect(doubles[other].server.count()).toBe(before);
      }
    expect((await succeed("list")).stdout.split("\n")).toHaveLength(7);
    const compared = await succeed("compare", "why", "-p", first, "-p", second, "-o", join(home, "out"));
    expect(compared.stdout).toContain(`| ${first} | COMPLETED |`);
    expect(readdirSync(join(home, "out"))).toEqual(
      expect.arrayContaining([`${first}.md`, "index.md", `${second}.md`]),
    );
    for (const name of [first, second] as const) {
      expect(filesWith(home, `key-of-${name}`)).toEqual([join(home, "config", "config.json")]);
      expect(doubles[name].problems).toEqual([]);
    }
  });
});

const FORMS: Partial<Record<ProviderName, string>> = {
  openai: "resp_0001abcdef",
  exa: "agent_run_0001abcdef",
  parallel: "trun_0001abcdef",
  gemini: "v1_0001abcdef",
  tavily: "5f0a3c1e-0001-4abc-8def-0123456789ab",
};

describe("an id in the form of another provider's is asked for nowhere", () => {
  test.each(
    Object.entries(FORMS).flatMap(([of, id]) =>
      (["openai", "exa", "parallel", "gemini"] as const).flatMap((at) =>
        at === of ? [] : [[id, at] as const],
      ),
    ),
  )("%s at %s: 5, and the account that has such ids", async (id, at) => {
    const { run, doubles } = await loggedIn(at);
    const before = doubles[at].server.count();
    const after = at === "openai" || at === "exa" ? [["create", "why", "--after", id]] : [];
    for (const argv of [
      ["status", id],
      ["watch", id],
      ["stop", id],
      ["output", id],
      ["check", id],
      ...after,
    ]) {
      const seen = await run(...argv, "--json");
      expect(seen.code, seen.stderr).toBe(5);
      const [failure] = jsonErrors(seen.stderr);
      expect(failure?.message).toContain(`${id} is an id of `);
      expect(failure?.hint).toMatch(/^`research login (?:openai|exa|parallel|gemini|perplexity)` stores an/);
    }
    expect(doubles[at].server.count()).toBe(before);
  });

  test("a profile of that provider is named, and others are asked for what is theirs", async () => {
    const { run, env, home, doubles } = await loggedIn("exa", "openai");
    const [failure] = jsonErrors((await run("status", "agent_run_none", "--json")).stderr);
    expect(failure).toMatchObject({ code: "NOT_FOUND", hint: "add --profile exa" });
    expect((await run("status", "agent_run_none", "-p", "exa")).code).toBe(5);
    expect(doubles.exa.server.count("status")).toBe(2);
    const id = (await run("create", "why")).stdout.trim();
    const seen = await run("watch", "agent_run_none", id, "--json");
    expect(seen.code).toBe(5);
    const ends = jsonLines(seen.stdout).filter(({ final, error }) => final || error);
    expect(ends).toMatchObject([
      { request_id: "agent_run_none", final: false, error: { code: "NOT_FOUND" } },
      { request_id: id, status: "COMPLETED", final: true },
    ]);
    const client = await connectMcp({ home, env });
    const states = await client.call("research_status", { ids: ["agent_run_none"] });
    expect(states.text).toContain("add --profile exa");
    await client.close();
  });

  test.each<[ProviderName, string]>([
    ["perplexity", "resp_0001abcdef"],
    ["perplexity", "5f0a3c1e-0001-4abc-8def-0123456789ab"],
    ["openai", "chatcmpl-1"],
  ])("at %s %s may be its own", async (name, id) => {
    const { run, doubles } = await loggedIn(name);
    const before = doubles[name].server.count();
    expect((await run("status", id)).code).toBe(5);
    expect(doubles[name].server.count()).toBe(before + 1);
  });
});

describe("a request whose profile does not lead to it any more", () => {
  async function movedAway(...others: ProviderName[]) {
    const person = await loggedIn(...others, "openai");
    const id = (await person.succeed("create", "why")).stdout.trim();
    const kept = (await person.succeed("create", "what")).stdout.trim();
    await person.succeed("watch", kept);
    await person.succeed("config", "set", "base-url", "https://gateway.example", "-p", "openai");
    return {
      ...person,
      id,
      kept,
      sent: () => Object.values(person.doubles).map(({ server }) => server.count()),
    };
  }

  test("is named with where it was made, if nothing else is configured", async () => {
    const { run, succeed, id, kept, doubles, sent } = await movedAway();
    await run("config", "set", "tier", "free", "-p", "bare");
    await run("config", "use", "bare");
    const before = sent();
    for (const verb of ["status", "watch", "output", "stop"]) {
      const [failure] = jsonErrors((await run(verb, id, "--json")).stderr);
      expect(failure).toMatchObject({ code: "NOT_CONFIGURED", exit_code: 2 });
      expect(failure?.message).toBe(
        `${id} was created at ${doubles.openai.url} with profile openai, but this profile has no key for that origin any more`,
      );
      expect(failure?.hint).toContain(`--base-url ${doubles.openai.url}`);
    }
    expect((await succeed("output", kept)).stdout).toContain("An answer to: what");
    expect(sent()).toEqual(before);
  });

  test("is not asked of an account of another provider, and a result that is kept is printed", async () => {
    const { run, succeed, id, kept, sent } = await movedAway("exa");
    await run("config", "use", "exa");
    const before = sent();
    expect(await run("output", id)).toMatchObject({ code: 5, stdout: "" });
    expect((await succeed("output", kept)).stdout).toContain("An answer to: what");
    expect((await succeed("output", kept, "-p", "exa")).stdout).toContain("An answer to: what");
    expect(sent()).toEqual(before);
  });
});

test("at the provider's own address the login that stores an account there is named", async () => {
  const { home, run } = homeWith();
  plant(home, { requestId: "resp_1234", origin: "https://api.openai.com", createdAt: Date.now() });
  const [failure] = jsonErrors((await run("status", "resp_1234", "--json")).stderr);
  expect(failure?.hint).toBe("`research login openai` stores an account there");
});
