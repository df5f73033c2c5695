import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Behaviour, hang, only } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY as UPSTREAM_KEY } from "../support/happy-service.js";
import { foldersIn } from "../support/home.js";
import { InProcess, research } from "../support/in-process.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { KEY as PROVIDER_KEY, ProviderDouble } from "../support/providers/double.js";
import type { Operation } from "../support/request-reader.js";
import { environment, type Running, start } from "../support/run.js";
import { until } from "../support/service.js";
import { ask, post } from "../support/wire.js";

const KEY = "test-key-0123456789";

let there: HappyService;
let fault: (operation: Operation, nth: number) => Behaviour | undefined;
let killed: Running | undefined;
let inProcess: InProcess | undefined;
let env: Record<string, string>;
let dataDir: string;

beforeEach(async () => {
  fault = () => undefined;
  there = await HappyService.start({ fault: (operation, nth) => fault(operation, nth) });
  env = emptyEnvironment();
  dataDir = folderWith();
  const login = ["login", "--base-url", there.url, "--with-key", "-p", "there"];
  expect((await research(login, { env, input: UPSTREAM_KEY })).code).toBe(0);
});

const emptyEnvironment = () => ({ ...foldersIn(folderWith()), RESEARCH_SERVE_API_KEY: KEY });

afterEach(async () => {
  killed?.signal("SIGKILL");
  await terminated();
});

const ARGS = ["serve", "--port", "0", "--data"];
const ADDRESS = /http:\/\/[\d.:]+/;

/** The service in a process of its own, which can be killed. */
async function startService() {
  const running = start([...ARGS, dataDir, "--upstream", "there"], { env, timeoutMs: 120_000 });
  killed = running;
  const [baseUrl = ""] = await running.waitFor(ADDRESS);
  const end = (signal: NodeJS.Signals) => {
    running.signal(signal);
    return running.done;
  };
  return { end, ...callsOf(baseUrl) };
}

/** The service in this process. */
async function serve() {
  const running = new InProcess([...ARGS, dataDir, "--upstream", "there"], {
    env: environment(folderWith(), env),
  });
  inProcess = running;
  const [baseUrl = ""] = await running.waitFor(ADDRESS);
  return { baseUrl, ...callsOf(baseUrl) };
}

/** What the service in this process has written, after its end. */
async function terminated(): Promise<string> {
  inProcess?.signal("SIGTERM");
  const run = await inProcess?.done;
  inProcess = undefined;
  return run?.stderr ?? "";
}

function callsOf(baseUrl: string) {
  const call = (id: string, what: string) =>
    ask(baseUrl, { path: `/api/v1/conversation/${id}/${what}`, key: KEY });
  const create = (prompt: string) => post(baseUrl, "/api/v1/conversations", KEY, { prompt });
  return {
    create,
    id: async (prompt: string) => String((await create(prompt)).json.data?.request_id),
    stop: (id: string) => post(baseUrl, `/api/v1/conversation/${id}/stop`, KEY),
    output: (id: string) => call(id, "output"),
    ended: (id: string) =>
      until(async () => {
        const status = (await call(id, "status")).json.data?.status;
        return status === "PENDING" || status === "PROCESSING" ? undefined : status;
      }, 30_000),
  };
}

/** What the other service saw: creates, and whether a key of ours was with them. */
const creates = () => there.server.count("create");
const polled = () => until(async () => there.server.count("status") > 1 || undefined);

describe("serve --upstream", () => {
  it("has each question answered there, once, with the profile's key", async () => {
    const { id, ended, output } = await serve();
    const ids = await Promise.all(["one", "two"].map(id));
    for (const each of ids) expect(await ended(each)).toBe("COMPLETED");
    expect((await output(ids[0] ?? "")).json.data?.output).toBe("An answer to: one");
    expect(creates()).toBe(2);
    const keys = new Set(there.server.of("create").map(({ headers }) => headers.authorization));
    expect([...keys]).toEqual([`Bearer ${UPSTREAM_KEY}`]);
  });

  it("sends no more in 24 hours than the profile's per-day, also after a kill", async () => {
    await research(["config", "set", "per-day", "2", "-p", "there"], { env });
    const first = await startService();
    for (const each of [await first.id("one"), await first.id("two")])
      expect(await first.ended(each)).toBe("COMPLETED");
    const third = await first.id("three");
    const full = `the limit of 2 creates in 24 hours at ${there.url} \\(profile there\\), set by profile there`;
    await killed?.waitFor(new RegExp(full), { on: "stderr" });
    await first.end("SIGKILL");
    const second = await serve();
    expect((await second.create("four")).status).toBe(200);
    expect((await second.stop(third)).status).toBe(200);
    expect(creates()).toBe(2);
  });

  it("goes on by the kept id after a clean stop, which stops nothing there, and sends no second create", async () => {
    const first = await serve();
    const requestId = await first.id("why? => PENDING PROCESSING PROCESSING PROCESSING COMPLETED");
    await polled();
    await terminated();
    expect(there.server.count("stop")).toBe(0);
    const second = await serve();
    expect(await second.ended(requestId)).toBe("COMPLETED");
    expect(creates()).toBe(1);
  });

  it("a stop while the create is under way, then a kill: the stop, the page's facts and the next log say so", async () => {
    fault = only("create", hang());
    const first = await startService();
    const requestId = await first.id("why?");
    await until(async () => creates() === 1 || undefined);
    const stopped = await first.stop(requestId);
    const unknown = `It is not known whether it exists at ${there.url}`;
    expect(stopped.json.data?.message).toContain(unknown);
    await first.end("SIGKILL");
    await serve();
    const line = new RegExp(
      `${requestId} was stopped while its create was sent: it is not known whether it exists`,
    );
    await inProcess?.waitFor(line, { on: "stderr" });
    await terminated();
    await serve();
    // It is said once.
    expect(await terminated()).not.toMatch(line);
    expect(creates()).toBe(1);
  });
});

describe("serve --upstream with a provider", () => {
  const serveAt = async (provider: ProviderName, run: (double: ProviderDouble) => Promise<void>) => {
    const double = await ProviderDouble.start(provider);
    env = emptyEnvironment();
    const login = ["login", "--provider", provider, "--base-url", double.url, "--with-key", "-p", "there"];
    try {
      expect(await research(login, { env, input: PROVIDER_KEY })).toMatchObject({ code: 0 });
      await run(double);
    } finally {
      await terminated();
    }
  };

  const added = async (name: string, ...budgets: string[]) => {
    const { stdout } = await research(["serve", "keys", "add", name, "--data", dataDir, ...budgets]);
    return stdout.trim();
  };
  const createAs = (baseUrl: string, key: string) =>
    post(baseUrl, "/api/v1/conversations", key, { prompt: "x" });

  it("a key with a budget of dollars creates nothing at a provider that says none, and others do", async () => {
    const [alice, bob] = [await added("alice", "--dollars", "5/1d"), await added("bob")];
    await serveAt("openai", async (double) => {
      const { baseUrl } = await serve();
      const { status, json } = await createAs(baseUrl, alice);
      expect([status, json.error?.code]).toEqual([400, "BUDGET_NOT_MEASURED"]);
      expect(json.error?.message).toContain("does not say what a conversation costs");
      expect(double.server.count("create")).toBe(0);
      expect((await createAs(baseUrl, bob)).status).toBe(200);
      expect(await terminated()).toContain("keys with --dollars create nothing (alice)");
    });
  });

  it("what was said counts against the dollars of its key, and stays with the key", async () => {
    const alice = await added("alice", "--dollars", "0.5/1d");
    await serveAt("exa", async () => {
      const { baseUrl } = await serve();
      const of = (id: unknown) => ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key: alice });
      for (const cost of [0.42, 0.84]) {
        const id = (await createAs(baseUrl, alice)).json.data?.request_id;
        await until(
          async () => ((await of(id)).json.data?.status === "COMPLETED" ? true : undefined),
          30_000,
        );
        const spent = await research(["serve", "keys", "spent", "--data", dataDir, "--json"]);
        expect(JSON.parse(spent.stdout)).toMatchObject([{ key: "alice", dollars: cost, unreported: 0 }]);
      }
      const { status, json, headers } = await createAs(baseUrl, alice);
      expect([status, json.error?.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
      expect(json.error?.message).toMatch(/is \$0\.50 in 1d: \$0\.84 were spent .* Try again at \d{4}-/);
      expect(Number(headers["retry-after"])).toBeGreaterThan(86_000);
      const byModel = await research(["serve", "keys", "spent", "--data", dataDir, "--by", "model"]);
      expect(byModel.stdout).toBe("medium\t2\t0\t0\t0.84\t0\t0\t0\n");
    });
  });

  it.each<[ProviderName, cost: number | undefined]>([
    ["openai", undefined],
    ["perplexity", 0.42],
    ["exa", 0.42],
    ["parallel", undefined],
  ])("%s: passes its words, cost and sources on in the output's data", async (provider, cost) => {
    await serveAt(provider, async (double) => {
      const { id, ended, output } = await serve();
      const requestId = await id("why?");
      expect(await ended(requestId)).toBe("COMPLETED");
      const { data } = (await output(requestId)).json;
      expect(data).toMatchObject({
        request_id: requestId,
        output: "An answer to: why?",
        provider_status: "completed",
      });
      expect(data?.cost_dollars).toBe(cost);
      expect(data?.sources).toContainEqual(expect.objectContaining({ url: "https://a.example/one" }));
      if (provider === "openai")
        expect(data?.citations).toContainEqual(expect.objectContaining({ start: 0 }));
      expect(double.server.count("create")).toBe(1);
      expect(double.problems).toEqual([]);
    });
  });

  it("says that what was stopped goes on there and is paid for, where it has no way to stop", async () => {
    await serveAt("parallel", async (double) => {
      const { baseUrl, id, stop } = await serve();
      const requestId = await id("why? => queued running");
      await until(async () => double.server.count("status") > 0 || undefined, 30_000);
      const { message } = (await stop(requestId)).json.data ?? {};
      expect(message).toContain("At Parallel it goes on and is paid for");
      await inProcess?.waitFor(/goes on at Parallel and is paid for/, { on: "stderr" });
      expect(double.server.count("create")).toBe(1);
      const client = { ...foldersIn(folderWith()), RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: KEY };
      const mine = (await research(["create", "why? => queued running"], { env: client })).stdout.trim();
      await until(async () => double.server.count("create") > 1 || undefined, 30_000);
      expect(await research(["stop", mine], { env: client })).toMatchObject({ code: 0 });
      const { stdout } = await research(["show", mine], { env: client });
      expect(stdout).toMatch(/^message .*At Parallel it goes on and is paid for/m);
    });
  });
});

it.each([
  [["--sources", "."], "--sources"],
  [["--researcher", "cat"], "--researcher"],
  [["--model", "m", "--model-url", "http://127.0.0.1:1"], "--model"],
  [["--exec", "true"], "--exec"],
])("--upstream with %j is bad input", async (flags, named) => {
  const { code, stderr } = await research(["serve", "--upstream", "there", ...flags], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(named)]);
});

it("a profile that does not exist, or has no key, is bad input", async () => {
  const nosuch = await research(["serve", "--port", "0", "--upstream", "nosuch"], { env });
  expect([nosuch.code, nosuch.stderr]).toEqual([
    2,
    expect.stringContaining('"nosuch" (named by --upstream)'),
  ]);
  await research(["config", "unset", "api-key", "-p", "there"], { env });
  const args = ["serve", "--port", "0", "--upstream", "there"];
  const keyless = await research(args, { env: { ...env, RESEARCH_API_KEY: "not-for-upstream" } });
  expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining("no API key")]);
});
