import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KeptResults } from "../../src/client/store/history/kept-results.js";
import { openResearch } from "../../src/index.js";
import { accountService, addProfile } from "../support/accounts.js";
import { folderWith } from "../support/folder.js";
import { foldersIn, homeWith, listed, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { listen } from "../support/listen.js";
import { connectMcp } from "../support/mcp.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { jsonErrors, jsonLines } from "../support/world.js";

/** Two profiles, `work` and `home`, each with a request; `home` is in use. With `isOne` both are at one origin. */
async function twoProfiles({ isOne = false, state = "COMPLETED" } = {}) {
  const { server: work } = await accountService(undefined, undefined, state);
  const { server: home } = isOne ? { server: work } : await accountService(undefined, undefined, state);
  const { home: folder, env, run, succeed } = homeWith();
  const made: string[] = [];
  for (const [name, server] of [["home", home] as const, ["work", work] as const]) {
    await addProfile(env, name, server.url, `key-of-${name}`);
    made.push((await succeed("create", `a question of ${name}`, "-p", name)).stdout.trim());
  }
  await run("config", "use", "home");
  const [ofHome = "", ofWork = ""] = made;
  return { work, home, folder, env, run, succeed, ofHome, ofWork };
}

const NOTICE = /^note: using profile work at http:\S+, which created it$/m;

test.each([
  ["status", "COMPLETED", []],
  ["watch", "COMPLETED", []],
  ["output", "the report of work", []],
  ["stop", "STOPPED", ["-y"]],
])("%s of an id goes to the account that made it, whichever is in use", async (verb, answer, flags) => {
  for (const isOne of [false, true]) {
    const { run, home, ofWork, folder } = await twoProfiles({ isOne });
    const before = home.count();
    const seen = await run(verb, ofWork, ...flags);
    expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(answer) });
    expect(seen.stderr.match(new RegExp(NOTICE, "gm"))).toHaveLength(1);
    if (!isOne) expect(home.count()).toBe(before);
    const entry = (await listed(folder)).find(({ request_id }) => request_id === ofWork);
    if (verb !== "output") expect(entry?.status).toBe(verb === "stop" ? "STOPPED" : "COMPLETED");
  }
});

test("one command asks for ids of several accounts, each where it was made", async () => {
  const { run, succeed, ofHome, ofWork } = await twoProfiles();
  const seen = await succeed("watch", ofHome, ofWork, "--json");
  const ended = jsonLines(seen.stdout).filter(({ final }) => final);
  expect(ended.map(({ request_id }) => request_id).sort()).toEqual([ofHome, ofWork].sort());
  expect(jsonLines(seen.stderr)).toMatchObject([{ notice: { code: "OTHER_ACCOUNT" } }]);
  const states = await run("status", ofWork, ofHome);
  expect(states.stdout).toBe(`${ofWork}\tCOMPLETED\n${ofHome}\tCOMPLETED\n`);
});

test.each([
  ["--base-url", (home: string) => [["--base-url", home], {}]],
  ["-p", () => [["-p", "home"], {}]],
  ["RESEARCH_BASE_URL", (home: string) => [[], { RESEARCH_BASE_URL: home, RESEARCH_API_KEY: "key-of-home" }]],
  ["RESEARCH_PROFILE", () => [[], { RESEARCH_PROFILE: "home" }]],
] as [string, (home: string) => [string[], Record<string, string>]][])(
  "with %s it is asked for where the command goes, and a 404 names the origin and the flag",
  async (_, given) => {
    const { home, work, env, ofWork } = await twoProfiles();
    const [flags, variables] = given(home.url);
    const before = work.count();
    const seen = await inProcess(["status", ofWork, ...flags], { env: { ...env, ...variables } });
    expect(seen.code).toBe(5);
    expect(seen.stderr).toContain(`${ofWork} was created at ${work.url}`);
    expect(seen.stderr).toContain("add --profile work");
    expect(work.count()).toBe(before);
  },
);

test("at one origin the 404 of another account names the profile", async () => {
  const { run, ofWork, work } = await twoProfiles({ isOne: true });
  const { code, stderr } = await run("status", ofWork, "-p", "home");
  expect(code).toBe(5);
  expect(stderr).toContain(`created at ${work.url} with profile work; add --profile work`);
});

test.each([
  ["has no key any more", ["config", "unset", "api-key"], {}],
  ["has no key of its own", ["config", "unset", "api-key"], { RESEARCH_API_KEY: "key-of-home" }],
  ["has another origin", ["config", "set", "base-url", "http://127.0.0.1:9"], {}],
])("a profile that %s is not asked", async (_, change, variables) => {
  const { home, work, ofWork, env, run } = await twoProfiles();
  await run(...change, "-p", "work");
  await run("config", "set", "base-url", home.url, "-p", "home");
  if (change[2] === "base-url")
    await inProcess(["config", "set", "api-key", "-p", "work"], { env, input: "key-of-work" });
  const [atHome, atWork] = [home.count(), work.count()];
  const seen = await inProcess(["status", ofWork], { env: { ...env, ...variables } });
  expect(seen.code).toBe(5);
  expect(seen.stderr).not.toMatch(NOTICE);
  expect(seen.stderr).toContain(work.url);
  expect([home.count(), work.count()]).toEqual([atHome + 1, atWork]);
});

test("the recorded profile takes its own key, never RESEARCH_API_KEY", async () => {
  const { env, work, ofWork } = await twoProfiles();
  const before = work.count();
  const given = { ...env, RESEARCH_API_KEY: "key-of-nobody" };
  expect(await inProcess(["status", ofWork], { env: given })).toMatchObject({ code: 0 });
  const keys = work.requests.slice(before).map(({ headers }) => headers.authorization);
  expect(keys).toEqual(["Bearer key-of-work"]);
});

test("@last is the newest request of the account in use, at one origin too", async () => {
  for (const isOne of [false, true]) {
    const { run, ofHome, ofWork } = await twoProfiles({ isOne });
    expect((await run("output", "@last")).stdout).toBe("the report of home");
    expect((await run("status", "@last")).stdout).toBe(`${ofHome}\tCOMPLETED\n`);
    expect((await run("status", "@last", "-p", "work")).stdout).toBe(`${ofWork}\tCOMPLETED\n`);
    expect((await run("show", "@last", "--json")).stdout).toContain(`"request_id":"${ofHome}"`);
  }
});

test("@last outlives the key of its profile", async () => {
  const { run, env, ofHome } = await twoProfiles();
  await inProcess(["config", "set", "api-key"], { env, input: "key-of-home-2" });
  expect((await run("show", "@last", "--json")).stdout).toContain(`"request_id":"${ofHome}"`);
});

test("a key of the environment is an account of its own", async () => {
  const { server } = await accountService();
  const folder = folderWith();
  const as = (key: string) => {
    const env = { HOME: folder, ...foldersIn(folder), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: key };
    return (...argv: string[]) => inProcess(argv, { env });
  };
  const id = (await as("key-of-one")("create", "x")).stdout.trim();
  expect((await as("key-of-two")("output", "@last")).code).toBe(5);
  await as("key-of-two")("create", "x");
  expect((await as("key-of-one")("status", "@last")).stdout).toBe(`${id}\tCOMPLETED\n`);
});

test("without an account @last is the newest of all where nothing is sent", async () => {
  const { run, folder, work, ofWork, home } = await twoProfiles();
  // The profiles are there, and none of them is in use.
  const { profile: _, ...stored } = JSON.parse(readFileSync(join(folder, "config", "config.json"), "utf8"));
  const config = folderWith({ "config.json": JSON.stringify(stored) });
  const bare = { HOME: folder, ...foldersIn(folder), RESEARCH_CONFIG_DIR: config };
  const alone = (...argv: string[]) => inProcess(argv, { env: bare });
  const sent = home.count() + work.count();
  expect((await alone("show", "@last", "--json")).stdout).toContain(`"request_id":"${ofWork}"`);
  expect((await alone("history", "forget", "@last")).stderr).toContain(`${ofWork} has not ended`);
  const dry = await alone("rerun", "@last", "--dry-run", "--json");
  expect(dry, dry.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(dry.stdout)).toMatchObject({
    url: `${work.url}/api/v1/conversations`,
    body: { prompt: "a question of work" },
  });
  for (const argv of [
    ["rerun", "@last"],
    ["watch", "@last"],
    ["output", "@last"],
  ])
    expect(await alone(...argv)).toMatchObject({ code: 2, stderr: expect.stringContaining("no base URL") });
  expect(home.count() + work.count()).toBe(sent);
  // A request of the history has an account of its own.
  expect((await alone("watch", ofWork)).stdout).toBe(`${ofWork}\tCOMPLETED\n`);
  // With accounts, what is sent again goes to the one in use.
  expect((await run("rerun", ofWork)).stdout).toMatch(/^home-/);
});

test("without an account a dry rerun shows what the provider of its profile would be sent", async () => {
  const double = await ProviderDouble.start("openai");
  const { env, run, succeed } = homeWith();
  const login = ["login", "--provider", "openai", "--base-url", double.url, "--with-key", "-p", "work"];
  expect(await inProcess(login, { env, input: KEY })).toMatchObject({ code: 0 });
  await run("create", "x", "--model", "m", "-p", "work");
  // Another profile is in use, which has no address.
  await run("config", "set", "tier", "free", "-p", "none");
  await run("config", "use", "none");
  const dry = await succeed("rerun", "@last", "--dry-run", "--json");
  expect(JSON.parse(dry.stdout)).toMatchObject({
    url: `${double.url}/v1/responses`,
    body: { input: "x", model: "m" },
  });
});

test("the tools of the MCP server and the library ask where an id was made", async () => {
  const { env, folder, ofHome, ofWork } = await twoProfiles();
  const client = await connectMcp({ home: folder, env });
  const states = await client.call("research_status", { ids: [ofHome, ofWork] });
  expect(states.content.requests).toMatchObject([{ status: "COMPLETED" }, { status: "COMPLETED" }]);
  const waited = await client.call("research_wait", { ids: [ofWork, ofHome] });
  expect(waited.content).toMatchObject({ done: true });
  expect((await client.call("research_output", { id: ofWork })).text).toContain("the report of work");
  expect((await client.call("research_stop", { ids: [ofWork] })).isError).toBe(false);
  await client.close();
  const research = openResearch({ env });
  expect(await research.output(ofWork)).toBe("the report of work");
  const seen: string[] = [];
  for await (const event of research.watch([ofWork, ofHome]))
    if (event.kind === "state" && event.final) seen.push(event.requestId);
  expect(seen.sort()).toEqual([ofHome, ofWork].sort());
  expect(await research.stop(ofWork)).toMatchObject([{ status: "STOPPED" }]);
  await research.close();
});

test("a watch of several accounts ends when it is left, and at its timeout once for each id", async () => {
  const { run, env, ofHome, ofWork } = await twoProfiles({ state: "PROCESSING" });
  const research = openResearch({ env });
  for await (const event of research.watch([ofWork, ofHome])) if (event.kind === "state") break;
  await research.close();
  const timed = await run("watch", ofHome, ofWork, "--timeout", "1s");
  expect(timed.code).toBe(8);
  expect(timed.stdout.split("\n").sort()).toEqual(["", `${ofHome}\tPROCESSING`, `${ofWork}\tPROCESSING`]);
  expect(timed.stderr).toContain(`research watch ${ofHome} ${ofWork}`);
});

test("--after takes no id of another origin", async () => {
  const double = await ProviderDouble.start("openai");
  const { home: folder, run } = homeWith(double.env);
  plant(folder, { requestId: "resp_elsewhere1", origin: "https://made.example", createdAt: Date.now() });
  for (const flags of [[], ["--dry-run"]]) {
    const seen = await run("create", "x", "--after", "elsewhere1", ...flags, "--json");
    expect(seen).toMatchObject({ code: 2, stdout: "" });
    expect(jsonErrors(seen.stderr)).toMatchObject([
      { code: "USAGE", message: expect.stringContaining("created at https://made.example") },
    ]);
  }
  expect(double.server.requests).toEqual([]);
});

test("-p is given once", async () => {
  const { run, home } = await twoProfiles();
  const before = home.count();
  for (const argv of [
    ["status", "x", "-p", "work", "-p", "home"],
    ["-p", "home", "list", "--profile", "home"],
  ])
    expect(await run(...argv)).toMatchObject({ code: 2, stderr: expect.stringContaining("given once") });
  expect(home.count()).toBe(before);
});

test("list --status takes the states that there are, and names them", async () => {
  const { run, succeed, env, folder } = await twoProfiles();
  plant(folder, { requestId: "odd-1", origin: "https://a.example", createdAt: 0, status: "SIMMERING" });
  const wrong = await run("list", "--status", "NONSENSE", "--json");
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(jsonErrors(wrong.stderr)[0]?.hint).toMatch(/^The states are: PENDING, .*UNKNOWN, SIMMERING, queued/);
  for (const word of ["pending", "UNKNOWN", "simmering", "in_progress"])
    await succeed("list", "--status", word);
  const client = await connectMcp({ home: folder, env });
  expect((await client.call("research_list", { status: "NONSENSE" })).text).toContain("unknown state");
  await client.close();
  const research = openResearch({ env });
  await expect(research.list({ status: "NONSENSE" })).rejects.toThrow("unknown state");
  await research.close();
});

/** One origin in front of several services, by the first part of the path. */
async function gateway(services: Record<string, string>): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const [, name = "", path = ""] = /^\/([^/]+)(.*)$/.exec(incoming.url ?? "") ?? [];
    const { method, headers } = incoming;
    const behind = httpRequest(`${services[name]}${path}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(behind);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

test("services behind one origin do not share kept results, and ids that are counted anew do not either", async () => {
  const doubleOf = (name: string) =>
    ProviderDouble.start("openai", { result: () => `the report of ${name}` });
  const services = {
    a: (await doubleOf("a")).url,
    b: (await doubleOf("b")).url,
    c: (await doubleOf("c")).url,
  };
  const url = await gateway(services);
  const folder = folderWith();
  const run = (site: string, ...argv: string[]) => {
    const siteEnv = {
      RESEARCH_BASE_URL: `${url}/${site}/`,
      RESEARCH_PROVIDER: "openai",
      RESEARCH_API_KEY: KEY,
    };
    return inProcess(argv, { env: { HOME: folder, ...foldersIn(folder), ...siteEnv } });
  };
  const first = await run("a", "run", "x");
  expect(first.stdout, first.stderr).toContain("the report of a");
  expect((await run("b", "run", "x")).stdout).toContain("the report of b");
  const entries = JSON.parse((await run("a", "list", "--json")).stdout);
  expect(entries).toMatchObject([{ base_path: "/b" }, { base_path: "/a" }]);
  expect(entries[0].request_id).toBe(entries[1].request_id);
  expect((await run("a", "output", "@last")).stdout).toContain("the report of a");
  expect((await run("b", "output", entries[0].request_id)).stdout).toContain("the report of b");
  // What a batch keeps has the same name: the history finds it when the service has forgotten it.
  const rows = join(folder, "rows.txt");
  writeFileSync(rows, "z\n");
  expect((await run("b", "batch", rows, "--out", join(folder, "out"))).code).toBe(0);
  const [made] = JSON.parse((await run("b", "list", "--limit", "1", "--json")).stdout);
  const kept = new KeptResults(join(folder, "state", "results"), () => Date.now());
  expect(kept.read(`${url}/b`, made.request_id)).toContain("the report of b");
  // The service behind the path is another one, which counts from the beginning.
  services.a = services.c;
  expect((await run("a", "run", "y")).stdout).toContain("the report of c");
});
