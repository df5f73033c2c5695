import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findProvider } from "../../src/client/dialects/providers.js";
import * as does from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, homeWith, listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { listen } from "../support/listen.js";
import { connectMcp } from "../support/mcp.js";
import { account } from "../support/providers/account.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { type DoubleOptions, KEY, ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";
import { NAMES, saying } from "./rows.js";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { answer: { type: "string", description: "what is asked for" } },
  required: ["answer"],
  additionalProperties: false,
});

describe.each(NAMES)("%s", (name) => {
  test("run: one POST, the result with its sources, and nothing of the key", async () => {
    const { run, succeed, double, home, posts } = await account(name);
    const seen = await succeed("run", "Why is the sky blue?");
    expect(seen.stdout).toContain("An answer to: Why is the sky blue?");
    expect(seen.stdout).toMatch(/## Sources\n\n1\. \[One\]\(https:\/\/a\.example\/one\)/);
    expect((await run("show", "@last")).stdout).toMatch(/^source +One, https:\/\/a\.example\/one$/m);
    const shown = JSON.parse((await run("show", "@last", "--json")).stdout);
    expect(shown.sources).toContainEqual(expect.objectContaining({ url: "https://a.example/one" }));
    expect(posts()).toBe(1);
    expect(double.problems).toEqual([]);
    expect(seen.stdout + seen.stderr).not.toContain(KEY);
    expect(filesWith(home, KEY)).toEqual([]);
    expect(await listed(home)).toMatchObject([{ status: "COMPLETED", prompt: "Why is the sky blue?" }]);
  });

  test("a schema goes into the provider's own field, and the result is JSON that is checked", async () => {
    const { run, succeed, double } = await account(name);
    const seen = await succeed("run", "why", "--schema", SCHEMA, "--strict", "--json");
    expect(JSON.parse(seen.stdout)).toMatchObject({ status: "COMPLETED", output: { answer: "why" } });
    const output = await run("output", "@last", "--json");
    expect(JSON.parse(output.stdout)).toMatchObject({ output: { answer: "why" } });
    if (name !== "parallel") {
      const status = await run("status", "@last", "--json");
      expect(JSON.parse(status.stdout)).toMatchObject({ output: { answer: "why" } });
    }
    expect(double.problems).toEqual([]);
  });

  test("JSON data is in the interface's words, with the provider's own word", async () => {
    const { run, double } = await account(name);
    const created = await run("create", "why", "--json");
    const data = JSON.parse(created.stdout);
    expect(data).toMatchObject({
      status: "PENDING",
      provider_status: name === "tavily" ? "pending" : "queued",
      created_at: "2030-01-01T00:00:00.000Z",
    });
    const id = String(data.request_id);
    expect(double.runs.has(id)).toBe(true);
    const status = await run("status", id.slice(id.lastIndexOf("_") + 1).slice(0, 8), "--json");
    expect(JSON.parse(status.stdout)).toMatchObject({
      request_id: id,
      provider_status: name === "tavily" ? "pending" : "queued",
    });
  });

  test("-w of a result that is kept records how the request ended", async () => {
    const { run } = await account(name);
    const id = (await run("create", "why")).stdout.trim();
    while ((await run("output", id)).code === 8);
    await run("output", "-w", id);
    expect(JSON.parse((await run("show", id, "--json")).stdout)).toMatchObject({ status: "COMPLETED" });
  });

  test("the result is kept: it comes without a request, until it is too old", async () => {
    const { run, home, double } = await account(name);
    const id = (await run("create", "why")).stdout.trim();
    await run("watch", id);
    if (name === "parallel") await run("output", id);
    const before = double.server.count();
    for (const flags of [[], ["-w"]])
      expect((await run("output", id, ...flags)).stdout).toContain("An answer to: why");
    expect(double.server.count()).toBe(before);
    const folder = join(foldersIn(home).RESEARCH_STATE_DIR, "results");
    const [file = ""] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, file), "utf8")).not.toContain("## Sources");
    writeFileSync(join(folder, file), "torn {");
    expect((await run("output", id)).stdout).toContain("An answer to: why");
    expect(double.server.count()).toBeGreaterThan(before);
  });

  test("a key is tried by login, and used from then on", async () => {
    const double = await ProviderDouble.start(name);
    const { home, env, run, succeed } = homeWith();
    const login = ["login", "--provider", name, "--base-url", double.url, "--with-key"];
    const wrong = await inProcess(login, { env, input: "wrong-key-value\n" });
    expect(wrong, wrong.stderr).toMatchObject({ code: 4 });
    expect(existsSync(foldersIn(home).RESEARCH_CONFIG_DIR)).toBe(false);
    const good = await inProcess(login, { env, input: `${KEY}\n` });
    expect(good, good.stderr).toMatchObject({ code: 0 });
    expect(good.stderr).toContain("has not been tested on a live account");
    await succeed("create", "why");
    const list = await run("config", "get", "provider");
    expect(list.stdout).toBe(`${name}\n`);
    expect(double.server.count("create")).toBe(1);
  });

  test("--dry-run prints the request and sends nothing", async () => {
    const { run, double, env } = await account(name);
    const seen = await run("create", "it's `why`", "--dry-run", "--json");
    expect(JSON.parse(seen.stdout)).toMatchObject({ method: "POST", body: expect.any(Object) });
    expect(seen.stdout).toContain("$RESEARCH_API_KEY");
    const { RESEARCH_BASE_URL: _, ...own } = env;
    const curl = await inProcess(["create", "why", "--dry-run"], { env: own });
    expect(curl.stdout).toContain(`$${name.toUpperCase()}_API_KEY`);
    if (name === "gemini") {
      const { RESEARCH_API_KEY: _key, ...keyless } = own;
      const google = await inProcess(["create", "why", "--dry-run"], {
        env: { ...keyless, GOOGLE_API_KEY: KEY },
      });
      expect(google.stdout).toContain("$GOOGLE_API_KEY");
    }
    expect(seen.stdout + curl.stdout).not.toContain(KEY);
    expect(double.server.count()).toBe(0);
  });

  test.each([
    [["--set", "stream=true"], /cannot be set/],
    [["--set", "=x"], /invalid value for --set/],
    [["--set", "seed=1e999"], /larger than any number/],
    [["--tier", "free"], /no tiers/],
    [["--model", " "], /--model/],
    ...(name === "parallel" ? [] : [[["--structured"], /without a schema/] as [string[], RegExp]]),
  ])("bad input (%j) is 2 and sends nothing", async (flags, says) => {
    const { run, double, home } = await account(name);
    const seen = await run("create", "why", ...flags, "--json");
    expect(seen.code).toBe(2);
    expect(jsonErrors(seen.stderr)).toMatchObject([{ exit_code: 2, message: expect.stringMatching(says) }]);
    expect((await run("create", "why", ...flags, "--json", "--dry-run")).code).toBe(
      flags[0] === "--tier" ? 0 : 2,
    );
    expect(double.server.count()).toBe(0);
    expect(await listed(home)).toEqual([]);
  });

  test("the model and options are sent, recorded and sent again by rerun", async () => {
    const { run, double, home } = await account(name);
    const models = { openai: "gpt-x", perplexity: "a/b", exa: "high", parallel: "ultra" };
    const model = { ...models, gemini: "deep-research-max-preview-04-2026", tavily: "pro" }[name];
    const [field, value] =
      name === "tavily"
        ? ["output_length", "short"]
        : [name === "gemini" ? "labels" : "metadata", { a: "b" }];
    await run("create", "why", "--model", model, "--set", `${field}=${JSON.stringify(value)}`);
    await run("rerun", "@last");
    const bodies = [...double.runs.values()].map(({ body }) => body);
    expect(bodies[0]).toMatchObject({ [field]: value });
    expect(JSON.stringify(bodies[0])).toContain(model);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(double.problems).toEqual([]);
    expect(await listed(home)).toMatchObject([{ model, options: { [field]: value } }, { model }]);
  });

  test("a number of --set keeps its digits", async () => {
    const { succeed } = await account(name);
    const sent = await succeed(
      "create",
      "why",
      "--dry-run",
      "--set",
      "seed=12345678901234567890",
      "--set",
      "t=0.10",
    );
    expect(sent.stdout).toMatch(/"seed":\s?12345678901234567890,\s*"t":\s?0\.10\b/);
  });

  test("--after sends what the provider takes for it", async () => {
    const { run, double } = await account(name);
    const id = (await run("create", "why")).stdout.trim();
    const seen = await run("create", "and then?", "--after", "@last");
    if (name === "tavily") {
      expect(seen).toMatchObject({ code: 2, stderr: expect.stringContaining("does not support follow-ups") });
      return expect(double.server.count("create")).toBe(1);
    }
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    const [, second] = [...double.runs.values()];
    const expected = name === "parallel" ? `trun_inter_${id.slice(5)}` : id;
    expect(Object.values(second?.body ?? {})).toContain(expected);
    expect(double.problems).toEqual([]);
  });

  test("a 404 to the polls of the first minute is not the end, nor one to a question", async () => {
    const gone = does.answer({ status: 404, body: saying("No such run.", "not_found") });
    const lagging = () => account(name, { fault: does.only("status", gone, 2) });
    await (await lagging()).succeed("run", "why");
    const { succeed } = await lagging();
    await succeed("create", "why");
    await succeed("status", "@last");
  });

  test("a 429 that says when to come back is 7, and is waited for, whatever its words", async () => {
    const body = saying("Add credits to raise the limit of your quota");
    const { run, succeed, posts, clock } = await account(name, {
      fault: does.only("create", does.answer({ status: 429, body, headers: { "retry-after": 3 } }), 2),
    });
    const refused = await run("create", "why", "--json");
    expect(refused.code).toBe(7);
    expect(jsonErrors(refused.stderr)).toMatchObject([
      { code: "RATE_LIMITED", exit_code: 7, retry_after: 3 },
    ]);
    const before = clock.now();
    await succeed("create", "why", "--wait-for-quota");
    expect(clock.now() - before).toBeGreaterThanOrEqual(3_000);
    expect(posts()).toBe(3);
  });

  test("no money is 6, waits for nothing and made nothing", async () => {
    const quota = saying("You exceeded your current quota", "insufficient_quota");
    const body = name === "exa" ? '{"error":"no credits","tag":"NO_MORE_CREDITS"}' : quota;
    const status = { openai: 429, perplexity: 401, exa: 402, parallel: 402, gemini: 429, tavily: 433 }[name];
    const { run, home, posts } = await account(name, {
      fault: does.only("create", does.answer({ status, body, headers: { "retry-after": 3_600 } })),
    });
    const seen = await run("create", "why", "--wait-for-quota", "--json");
    expect(seen.code).toBe(6);
    expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "NO_CREDIT", exit_code: 6, http_status: status }]);
    expect(posts()).toBe(1);
    expect(await listed(home)).toEqual([]);
  });
});

test.each([404, 408])(
  "parallel: a result that lags behind its end (%d) is asked for again",
  async (status) => {
    const body = saying("The run is still active.");
    const { run } = await account("parallel", {
      fault: does.only("output", does.answer({ status, body }), 1),
    });
    expect(await run("run", "why")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("An answer to"),
    });
  },
);

test("a create that is answered with the end keeps it, its result and its cost", async () => {
  const double = await ProviderDouble.start("exa");
  const id = double.add({ query: "why => completed" });
  const body = JSON.stringify(double.answerAbout(id, "completed"));
  const {
    run,
    home,
    double: asked,
  } = await account("exa", { fault: does.only("create", does.answer({ body })) });
  expect(await run("create", "why")).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(await listed(home)).toMatchObject([{ status: "COMPLETED", cost_dollars: 0.42 }]);
  expect((await run("output", id)).stdout).toContain("An answer to: why");
  expect(asked.server.count()).toBe(1);
});

test("a wait for a provider's limit is not called one of the hour", async () => {
  const body = '{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}';
  const { run } = await account("openai", {
    fault: does.only("create", does.answer({ status: 429, body, headers: { "retry-after": 1 } }), 1),
  });
  const { code, stderr } = await run("create", "why", "--wait-for-quota");
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/the limit of \w+ is reached; waiting 1s/);
  expect(stderr).not.toContain("hour");
});

test("what was cut short is 3, and --partial prints what there is", async () => {
  const { run } = await account("openai");
  const seen = await run("run", "why => in_progress incomplete", "--json");
  expect(seen.code).toBe(3);
  expect(jsonErrors(seen.stderr)).toMatchObject([
    {
      code: "RESEARCH_FAILED",
      message: expect.stringMatching(/cut short.*max_output_tokens/),
      hint: expect.stringContaining("--partial"),
    },
  ]);
  const part = await run("output", "@last", "--partial");
  expect(part, part.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("An answer to: why") });
  expect(part.stderr).toContain("cut short");
  expect((await run("output", "@last")).code).toBe(3);
  const partOfRun = await run("run", "whither => in_progress incomplete", "--partial");
  expect(partOfRun, partOfRun.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("An answer to: whither"),
  });
  expect(partOfRun.stderr).toContain("cut short");
  const spent = await (await account("gemini")).run("run", "why => budget_exceeded", "--partial");
  expect(spent).toMatchObject({ code: 0, stderr: expect.stringMatching(/was cut short: budget_exceeded\n/) });
  const failed = await run("run", "whence => in_progress failed", "--partial");
  expect(failed, failed.stderr).toMatchObject({ code: 3, stdout: "" });
});

describe("stop", () => {
  test.each<[ProviderName, number, RegExp]>([
    ["openai", 0, /STOPPED/],
    ["perplexity", 0, /STOPPED/],
    ["exa", 0, /STOPPED/],
    ["parallel", 6, /Parallel has no way to stop.*goes on and is paid for/],
    ["tavily", 6, /Tavily has no way to stop.*goes on and is paid for/],
    ["gemini", 6, /refuses a cancel with an API key.*goes on and is paid for/],
  ])("at %s ends with %d", async (name, code, says) => {
    const { run, double } = await account(name);
    const id = (await run("create", "why => queued running")).stdout.trim();
    const seen = await run("stop", id, "-y");
    expect(seen).toMatchObject({ code });
    expect(seen.stdout + seen.stderr).toMatch(says);
    if (name === "parallel" || name === "tavily") expect(double.server.count()).toBe(1);
  });

  test.each<ProviderName>(["openai", "perplexity", "exa"])(
    "at %s of what has ended is 6, and keeps the result that the answer shows",
    async (name) => {
      const { run, home, double } = await account(name);
      const id = (await run("create", "why => completed")).stdout.trim();
      const seen = await run("stop", id, "-y", "--json");
      expect(seen.code).toBe(6);
      expect(await listed(home)).toMatchObject([{ status: "COMPLETED" }]);
      const before = double.server.count();
      expect((await run("output", id)).stdout).toContain("An answer to: why");
      expect(double.server.count()).toBe(before);
    },
  );

  test("one that only begins is asked about for 16 s, and then not called stopped", async () => {
    const { run, clock, double } = await account("perplexity", {
      fault: does.only("stop", does.answer({ body: '{"response_id":"resp_x","status":"cancelling"}' })),
    });
    const id = double.add({ input: "why => in_progress" });
    double.server.script((operation) =>
      does.answer({
        body: JSON.stringify(
          operation === "stop" ? { response_id: id, status: "cancelling" } : { id, status: "in_progress" },
        ),
      }),
    );
    const start = clock.monotonic();
    const seen = await run("stop", id, "-y", "--json");
    expect(seen.code).toBe(8);
    expect(clock.monotonic() - start).toBeGreaterThanOrEqual(16_000);
  });
});

test("a word that waits for somebody is said at once, one that is not known after ten minutes, each once", async () => {
  for (const [word, says] of [
    [
      "requires_action",
      /is waiting for your input \(requires_action\): answer it at the provider\. Polling goes on"/,
    ],
    [
      "pondering",
      /has been in the unknown state pondering for ten minutes.*stop it with: research stop resp_\w+\. Polling goes on"/,
    ],
  ] as const) {
    const { run, double } = await account("perplexity");
    const id = double.add({ input: `why => in_progress ${word}` });
    const seen = await run("watch", id, "--timeout", "1h", "--json");
    expect(seen.code, seen.stderr).toBe(8);
    const stuck = jsonLines(seen.stderr).filter((line) => JSON.stringify(line).includes("STUCK"));
    expect(stuck).toHaveLength(1);
    expect(JSON.stringify(stuck)).toMatch(says);
  }
});

test("a forgotten request leaves no result behind", async () => {
  const { run, succeed, home, clock } = await account("openai");
  const id = (await run("create", "why")).stdout.trim();
  await run("watch", id);
  const folder = join(foldersIn(home).RESEARCH_STATE_DIR, "results");
  expect(readdirSync(folder)).toHaveLength(1);
  await clock.sleep(2 * 3_600_000);
  await succeed("history", "forget", id, "-y");
  expect(readdirSync(folder)).toEqual([]);
});

test("the interface itself takes no model, option or follow-up", async () => {
  const home = folderWith();
  const env = {
    HOME: home,
    ...foldersIn(home),
    RESEARCH_BASE_URL: "http://127.0.0.1:9",
    RESEARCH_API_KEY: "k",
  };
  for (const flags of [
    ["--model", "m"],
    ["--set", "a=1"],
    ["--after", "abcd"],
  ]) {
    const seen = await inProcess(["create", "why", ...flags], { env });
    expect(seen, seen.stderr).toMatchObject({ code: 2 });
    expect(seen.stderr).toContain("research interface");
  }
  const unknown = await inProcess(["create", "why"], { env: { ...env, RESEARCH_PROVIDER: "nosuch" } });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown provider "nosuch"') });
});

describe("keys", () => {
  test("a base URL without a provider takes nothing of a provider's profile", async () => {
    const double = await ProviderDouble.start("openai");
    const { env, run } = homeWith();
    await inProcess(["login", "--provider", "openai", "--base-url", double.url, "--with-key"], {
      env,
      input: KEY,
    });
    await run("config", "set", "model", "gpt-x");
    const before = double.server.count();
    const seen = await run("create", "why", "--base-url", double.url);
    expect(seen).toMatchObject({ code: 4 });
    expect(double.server.count()).toBe(before);
  });
});

test("a batch of 40 at 5 creates a minute and then no money: paced, stopped with 6, gone on by the same command", async () => {
  let money = 12;
  const times: number[] = [];
  const clock = new VirtualClock();
  const fault: DoubleOptions["fault"] = (operation) => {
    if (operation !== "create") return undefined;
    const now = clock.now();
    if (times.filter((at) => at > now - 60_000).length >= 5)
      return does.answer({ status: 429, body: '{"error":"Too many requests","tag":"RATE_LIMIT"}' });
    if (money === 0)
      return does.answer({ status: 402, body: '{"error":"No credits","tag":"NO_MORE_CREDITS"}' });
    money--;
    times.push(now);
    return undefined;
  };
  const rows = Array.from({ length: 40 }, (_, i) => `Question ${i}`).join("\n");
  const { double, home, run, succeed } = await account("exa", { fault }, { "rows.txt": rows }, clock);
  const argv = ["batch", join(home, "rows.txt"), "--out", join(home, "out"), "--json"];
  const first = await run(...argv);
  expect(first.code, first.stderr).toBe(6);
  expect(jsonErrors(first.stderr)).toMatchObject([{ code: "NO_CREDIT" }]);
  expect(double.runs.size).toBe(12);
  expect(jsonLines(first.stdout).at(-1)).toMatchObject({
    summary: { rows: 40, done: 12, waiting: 28, refused: 0, cost_dollars: 12 * 0.42 },
  });
  money = 100;
  await succeed(...argv);
  expect(double.runs.size).toBe(40);
  expect(new Set([...double.runs.values()].map(({ body }) => body.query)).size).toBe(40);
  expect(double.problems).toEqual([]);
});

describe("a default model that has ended", () => {
  const refusal: Partial<Record<ProviderName, [status: number, body: string]>> = {
    openai: [404, saying("The model does not exist or you do not have access to it.", "model_not_found")],
    perplexity: [400, saying("Invalid preset", "invalid_request")],
    parallel: [422, saying("The processor pro is no longer supported")],
    gemini: [404, saying("Agent deep-research-preview-04-2026 was not found", "not_found")],
  };
  test.each(Object.entries(refusal))(
    "at %s is named, and the setting that replaces it",
    async (name, said) => {
      const [status, body] = said;
      const { run, posts } = await account(name as ProviderName, {
        fault: does.only("create", does.answer({ status, body })),
      });
      const [failure] = jsonErrors((await run("create", "why", "--json")).stderr);
      const { title, defaultModel } = findProvider(name) ?? {};
      expect(failure).toMatchObject({
        exit_code: 2,
        hint: `${defaultModel} is this version's default for ${title}; name another with --model, or research config set model NAME`,
      });
      const [own] = jsonErrors((await run("create", "why", "--json", "--model", "a/b")).stderr);
      expect(own).toMatchObject({ exit_code: 2 });
      expect(own).not.toHaveProperty("hint");
      expect(posts()).toBe(2);
    },
  );

  test("is not what any other refusal means", async () => {
    const { run } = await account("openai", {
      fault: does.only("create", does.answer({ status: 400, body: saying("Invalid schema", "x") })),
    });
    expect(jsonErrors((await run("create", "why", "--json")).stderr)[0]).not.toHaveProperty("hint");
  });
});

describe("domains", () => {
  const LISTS = ["--domains", "www.B.example,a.example", "--not-domains", "c.example"];
  const OPENAI = {
    tools: [{ type: "web_search", filters: { allowed_domains: ["a.example", "b.example"] } }],
  };
  const both = { include_domains: ["a.example", "b.example"], exclude_domains: ["c.example"] };
  const filter = { search_domain_filter: ["a.example", "b.example", "-c.example"] };
  test.each<[ProviderName, string[], object]>([
    ["openai", LISTS.slice(0, 2), OPENAI],
    ["perplexity", LISTS, { tools: [{ type: "web_search", filters: filter }] }],
    ["parallel", LISTS, { source_policy: both }],
    ["tavily", LISTS, both],
  ])("at %s are sent in its own form, recorded, and sent again by rerun", async (name, flags, options) => {
    const { succeed, double, home } = await account(name);
    await succeed("create", "why", ...flags);
    await succeed("rerun", "@last");
    for (const { body } of double.runs.values()) expect(body).toMatchObject(options);
    expect(await listed(home)).toMatchObject([{ options }, { options }]);
    expect(double.problems).toEqual([]);
    const rows = join(folderWith({ "rows.txt": "one\ntwo" }), "rows.txt");
    await succeed("batch", rows, "--out", join(home, "out"), ...flags);
    expect([...double.runs.values()].at(-1)?.body).toMatchObject(options);
  });

  const twice = ["--domains", "a.example", "--set", "include_domains=[]"];
  test.each<[ProviderName | "research", string[], RegExp]>([
    ["openai", ["--not-domains", "a.example"], /cannot exclude domains/],
    ["openai", ["--domains", "a.example", "--set", 'tools=[{"type":"web_search"}]'], /"tools".*--set/],
    ["exa", ["--domains", "a.example"], /Exa cannot restrict the search to domains/],
    ["gemini", ["--not-domains", "a.example"], /Gemini cannot restrict the search to domains/],
    ["tavily", twice, /"include_domains".*--set/],
    ["tavily", ["--domains", "https://a.example/x"], /invalid --domains/],
    ["tavily", ["--domains", ""], /--domains .* is empty/i],
    ["research", ["--domains", "a.example"], /takes no domains/],
  ])("%s, %j: 2, and nothing is sent", async (name, flags, says) => {
    const { run, double, env } = await account(name === "research" ? "tavily" : name);
    env.RESEARCH_PROVIDER = name;
    for (const verb of ["create", "run"]) {
      const seen = await run(verb, "why", ...flags, "--json");
      expect(jsonErrors(seen.stderr)).toMatchObject([{ exit_code: 2, message: expect.stringMatching(says) }]);
    }
    expect(double.server.count()).toBe(0);
  });
});

describe("at OpenAI", () => {
  test("store=false is sent, with a sentence; no other value is", async () => {
    const { run, succeed, double } = await account("openai");
    const seen = await succeed("run", "why", "--set", "store=false");
    expect(seen.stderr).toMatch(/about ten minutes after it ends/);
    expect([...double.runs.values()][0]?.body).toMatchObject({ store: false, background: true });
    expect(double.problems).toEqual([]);
    expect(await run("create", "why", "--set", "store=true")).toMatchObject({ code: 2 });
    expect((await run("create", "why")).stderr).not.toMatch(/ten minutes/);
  });

  test.each([
    [{ type: "mcp", server_label: "own" }],
    [{ type: "file_search" }, { type: "web_search_preview" }],
  ])("tools are sent as they are set: %j", async (...tools) => {
    const { succeed, double } = await account("openai");
    await succeed("create", "why", "--set", `tools=${JSON.stringify(tools)}`);
    expect([...double.runs.values()][0]?.body).toMatchObject({ tools });
    expect(double.problems).toEqual([]);
  });

  const bodies = (double: ProviderDouble) => [...double.runs.values()].map(({ body }) => body);
  const RESEARCH = { model: "gpt-6.2-sol", reasoning: { effort: "high" }, tools: [{ type: "web_search" }] };

  test("the default model is asked for a research, and nothing is added to one that is named", async () => {
    const { run, succeed, double, home, env } = await account("openai");
    await succeed("run", "why");
    await succeed("rerun", "@last");
    await succeed("create", "why", "--set", 'reasoning={"effort":"low"}');
    await succeed("create", "why", "--model", "gpt-6.2-sol");
    const { reasoning: _, ...plain } = RESEARCH;
    const [first, again, set, named] = bodies(double);
    expect([first, again]).toMatchObject([RESEARCH, RESEARCH]);
    expect(set).toMatchObject({ ...RESEARCH, reasoning: { effort: "low" } });
    expect(named).toMatchObject(plain);
    expect(named).not.toHaveProperty("reasoning");
    const dry = JSON.parse((await run("create", "why", "--dry-run", "--json")).stdout);
    expect(dry.body).toEqual(first);
    expect((await run("create", "why", "--once")).stderr).toContain("nothing was sent");
    const rows = join(folderWith({ "rows.csv": "prompt,model\none,\ntwo,gpt-6.2-sol\n" }), "rows.csv");
    await succeed("batch", rows, "--out", join(home, "out"));
    const ofRows = bodies(double).slice(4);
    expect(ofRows.find(({ input }) => input === "one")).toMatchObject(RESEARCH);
    expect(ofRows.find(({ input }) => input === "two")).not.toHaveProperty("reasoning");
    const client = await connectMcp({ home, env });
    await client.call("research_create", { prompt: "of an agent" });
    await client.close();
    expect(bodies(double).at(-1)).toMatchObject(RESEARCH);
    expect(double.problems).toEqual([]);
  });

  test("--window is passed on in its spelling, recorded, and another request of the same prompt", async () => {
    const { run, succeed, double, home } = await account("openai");
    const window = (value: string) => ({ background_options: { completion_window: value } });
    await succeed("create", "why", "--window", "2h");
    expect(bodies(double)[0]).toMatchObject({ ...RESEARCH, ...window("2h"), background: true });
    await succeed("rerun", "@last");
    expect(bodies(double)[1]).toEqual(bodies(double)[0]);
    await succeed("rerun", "@last", "--window", "soonest");
    expect(bodies(double)[2]).toMatchObject(window("soonest"));
    expect(await listed(home)).toMatchObject(
      ["soonest", "2h", "2h"].map((one) => ({ options: window(one) })),
    );
    expect((await run("run", "why", "--window", "2h", "--once")).stderr).toContain("nothing was sent");
    await succeed("run", "why", "--window", "8 hours", "--once");
    expect(bodies(double)[3]).toMatchObject(window("8 hours"));
    const dry = JSON.parse((await run("create", "why", "--window", "8h", "--dry-run", "--json")).stdout);
    expect(dry.body).toMatchObject(window("8h"));
    const rows = join(folderWith({ "rows.txt": "one" }), "rows.txt");
    await succeed("batch", rows, "--out", join(home, "out"), "--window", "8h");
    expect(bodies(double)[4]).toMatchObject(window("8h"));
    const twice = await run("create", "why", "--window", "8h", "--set", "background_options={}");
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("--window sets") });
    expect(double.problems).toEqual([]);
    expect(double.runs.size).toBe(5);
  });

  test.each([...NAMES.filter((name) => name !== "openai"), "research"] as const)(
    "--window at %s, which has no such field, is 2",
    async (name) => {
      const { run, double, env, home } = await account(name === "research" ? "tavily" : name);
      env.RESEARCH_PROVIDER = name;
      const rows = join(folderWith({ "rows.txt": "one" }), "rows.txt");
      for (const argv of [
        ["create", "why"],
        ["run", "why"],
        ["batch", rows, "--out", join(home, "out")],
      ])
        expect(await run(...argv, "--window", "2h")).toMatchObject({ code: 2, stdout: "" });
      expect(double.server.count()).toBe(0);
    },
  );

  test("a window that the provider refuses is 2, in its words", async () => {
    const words = "Invalid value: '3h'. Supported values are: 'soonest', '2h', and '8h'.";
    const { run } = await account("openai", {
      fault: does.only("create", does.answer({ status: 400, body: saying(words, "invalid_value") })),
    });
    const seen = await run("create", "why", "--window", "3h");
    expect(seen).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});

test("at Perplexity an effort takes the place of a preset, and stands beside a model", async () => {
  const { succeed, double } = await account("perplexity");
  for (const flags of [[], ["--model", "low"], ["--model", "a/b"]])
    await succeed("create", "why", "--set", "effort=xhigh", ...flags);
  const all = [...double.runs.values()].map(({ body }) => [body.effort, body.preset, body.model]);
  expect(all).toEqual([
    ["xhigh", undefined, undefined],
    ["xhigh", undefined, undefined],
    ["xhigh", undefined, "a/b"],
  ]);
  expect(double.problems).toEqual([]);
});

test.each<[ProviderName, string]>([
  ["perplexity", "in_progress"],
  ["gemini", "in_progress"],
])("searches and pages of a running request at %s are its progress", async (name, word) => {
  const { run } = await account(name);
  const id = (await run("create", `why => ${word}`)).stdout.trim();
  const state = JSON.parse((await run("status", id, "--json")).stdout);
  expect(state.progress).toEqual({ step: "read", done: 2 });
  const done = (await run("create", `why => ${word} completed`)).stdout.trim();
  const lines = jsonLines((await run("watch", done, "--json")).stdout);
  expect(lines[0]).toMatchObject({ final: false, progress: { step: "read", done: 2 } });
  expect(JSON.parse((await run("output", done, "--json")).stdout)).not.toHaveProperty("progress");
});

test("a null of Exa's is told as missing evidence, and --strict is 13 all the same", async () => {
  const { run, succeed, home } = await account("exa", { result: () => ({ answer: null }) });
  const seen = await succeed("run", "why", "--schema", SCHEMA);
  expect(seen.stderr).toMatch(/does not fit its schema: at \/answer: .*Exa found no evidence for it/);
  expect(await run("output", "@last", "--strict")).toMatchObject({ code: 13 });
  const rows = join(folderWith({ "rows.txt": "one" }), "rows.txt");
  const batch = await run("batch", rows, "--out", join(home, "out"), "--schema", SCHEMA);
  expect(batch.stderr).toContain("Exa found no evidence for it");
  const other = await account("parallel", { result: () => ({ answer: null }) });
  expect((await other.run("run", "why", "--schema", SCHEMA)).stderr).not.toContain("evidence");
});

describe("Gemini", () => {
  test("a 403 to the polls of its own fresh id is not the end, and says nothing of the key", async () => {
    const { succeed, posts } = await account("gemini", {
      fault: does.only(
        "status",
        does.answer({
          status: 403,
          body: saying("The caller does not have permission", "permission_denied"),
        }),
        5,
      ),
    });
    await succeed("run", "why");
    expect(posts()).toBe(1);
  });

  test("the same about an id of somebody else is 4", async () => {
    const { run, double } = await account("gemini", {
      fault: does.only("status", does.answer({ status: 403, body: saying("no", "permission_denied") })),
    });
    expect(await run("watch", double.add({ input: "why" }))).toMatchObject({ code: 4 });
  });

  test("the wait in the body is told, and waited for", async () => {
    const body = JSON.stringify({
      error: {
        ...{ code: 429, status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota" },
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }],
      },
    });
    const { run, succeed, clock } = await account("gemini", {
      fault: does.only("create", does.answer({ status: 429, body }), 2),
    });
    expect(jsonErrors((await run("create", "why", "--json")).stderr)).toMatchObject([
      { exit_code: 7, retry_after: 34 },
    ]);
    const before = clock.now();
    await succeed("create", "why", "--wait-for-quota");
    expect(clock.now() - before).toBeGreaterThanOrEqual(34_000);
  });

  test("its older variable is used after its newer one, at its own origin only", async () => {
    const { env } = homeWith({ RESEARCH_PROVIDER: "gemini" });
    const source = async (more: Record<string, string>) =>
      (await inProcess(["config", "list"], { env: { ...env, ...more } })).stdout;
    expect(await source({ GOOGLE_API_KEY: "older-key" })).toMatch(/GOOGLE_API_KEY/);
    const both = await source({ GOOGLE_API_KEY: "older-key", GEMINI_API_KEY: "newer-key" });
    expect(both).toMatch(/GEMINI_API_KEY/);
    expect(both).not.toMatch(/GOOGLE_API_KEY/);
    const elsewhere = { GOOGLE_API_KEY: "older-key", RESEARCH_BASE_URL: "https://gateway.example" };
    expect(await source(elsewhere)).not.toMatch(/GOOGLE_API_KEY/);
  });
});

/**
 * A team's limit at Exa: 5 requests in a second, creates and polls together, each answered after 300 ms. Time is virtual
 * and passes while an answer is waited for, so the numbers are the same on any machine.
 */
test("a batch of 60 under Exa's limit keeps a steady pace, and is hardly ever refused", async () => {
  const clock = new VirtualClock();
  const times: number[] = [];
  const creates: { at: number; isRefused: boolean }[] = [];
  const options: DoubleOptions = {
    latency: () => clock.sleep(300),
    fault: (operation) => {
      const at = clock.monotonic();
      const isRefused = times.filter((time) => time > at - 1_000).length >= 5;
      times.push(at);
      if (operation === "create") creates.push({ at, isRefused });
      const body = '{"error":"Too many requests","tag":"RATE_LIMIT_EXCEEDED"}';
      return isRefused ? does.answer({ status: 429, body }) : undefined;
    },
  };
  const rows = Array.from({ length: 60 }, (_, row) => `Question ${row} => ${"running ".repeat(8)}completed`);
  const { double, home, succeed } = await account("exa", options, { "rows.txt": rows.join("\n") }, clock);
  await succeed("batch", join(home, "rows.txt"), "--out", join(home, "out"), "--json");
  expect(double.runs.size).toBe(60);
  const [first = 0, last = 0] = [creates[0]?.at, creates.at(-1)?.at];
  const whileWaiting = times.filter((at) => at >= first && at <= last).length;
  expect(whileWaiting / ((last - first) / 1_000)).toBeGreaterThanOrEqual(3.5);
  expect(creates.filter(({ isRefused }) => isRefused).length).toBeLessThanOrEqual(creates.length / 20);
  for (const [index, { at, isRefused }] of creates.entries())
    if (isRefused) expect((creates[index + 1]?.at ?? 0) - at).toBeLessThanOrEqual(5_000);
});

test.each(["RATE_LIMIT_EXCEEDED", "CONCURRENCY_LIMIT_REACHED"])(
  "%s at Exa names no time, and is a matter of seconds",
  async (tag) => {
    const { run, succeed, clock } = await account("exa", {
      fault: does.only(
        "create",
        does.answer({ status: 429, body: JSON.stringify({ requestId: "r", error: "Too many", tag }) }),
        2,
      ),
    });
    const [failure] = jsonErrors((await run("create", "why", "--json")).stderr);
    expect(failure).toMatchObject({ code: tag, exit_code: 7 });
    expect(Number(failure?.retry_after)).toBeLessThanOrEqual(5);
    const before = clock.now();
    await succeed("create", "why", "--wait-for-quota");
    expect(clock.now() - before).toBeLessThanOrEqual(5_000);
  },
);

describe("what a refusal says to do", () => {
  const CHALLENGE = does.answer({
    status: 403,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!DOCTYPE html><html><head><title>Just a\n moment...</title></head><body>Enable JavaScript</body></html>",
  });
  const openaiError = (message: string, code: string) => ({
    error: { message, type: "t", param: null, code },
  });
  const inWords = (status: number, message: string, code: string) =>
    does.answer({ status, body: JSON.stringify(openaiError(message, code)) });
  test.each<[string, does.Behaviour, RegExp, boolean]>([
    [
      "an organization that is not verified",
      inWords(403, "Your organization must be verified to use the model.", "model_not_found"),
      /organization must be verified/,
      false,
    ],
    [
      "a country",
      inWords(403, "Country, region, or territory not supported", "unsupported_country_region_territory"),
      /Country/,
      false,
    ],
    [
      "a member of no organization",
      inWords(401, "You must be a member of an organization.", "x"),
      /member/,
      false,
    ],
    ["a page", CHALLENGE, /HTTP 403 for POST \S+: Just a moment\.\.\./, false],
    ["a key", inWords(401, "Incorrect API key provided: sk-***42.", "invalid_api_key"), /Incorrect/, true],
    ["a key without a scope", inWords(403, "Missing scopes: check your API key.", "x"), /scopes/, true],
    ["nothing at all", does.answer({ status: 403, body: "" }), /HTTP 403 for POST/, true],
    ["JSON of somebody else", does.answer({ status: 401, body: '{"a":1}' }), /HTTP 401 for POST/, true],
  ])("of %s names the key only if it is about the key", async (_, behaviour, says, isAboutKey) => {
    const { run } = await account("openai", { fault: does.only("create", behaviour) });
    const [failure] = jsonErrors((await run("create", "why", "--json")).stderr);
    expect(failure).toMatchObject({ exit_code: 4, message: expect.stringMatching(says) });
    expect(/Check the key/.test(String(failure?.hint))).toBe(isAboutKey);
  });

  test.each(NAMES)("at %s of no money says to add credit", async (name) => {
    const { run } = await account(name, {
      fault: does.only("create", does.answer({ status: 402, body: "" })),
    });
    const [failure] = jsonErrors((await run("create", "why", "--json")).stderr);
    expect(failure).toMatchObject({ code: "NO_CREDIT", hint: expect.stringMatching(/^Add credit/) });
  });
});

test("a failed run whose message is null says its code", async () => {
  const { run, double, succeed } = await account("openai");
  const id = (await succeed("create", "why => failed")).stdout.trim();
  double.options.fault = (operation) =>
    operation === "status"
      ? does.answer({
          body: JSON.stringify({
            ...double.answerAbout(id, "failed"),
            error: { code: "server_error", message: null },
          }),
        })
      : undefined;
  expect((await run("watch", id)).code).toBe(3);
  expect((await run("show", id)).stdout).toMatch(/^why +server_error$/m);
});

test("a source of Tavily's without an address keeps its number, and so do those behind it", async () => {
  const sources = [
    { url: "https://a.example/one", title: "One" },
    { url: "", title: "A book" },
    { url: "https://c.example/three", title: "Three" },
  ];
  const { succeed } = await account("tavily", { sources, result: () => "First [1], second [2], third [3]." });
  const seen = await succeed("run", "why");
  expect(seen.stdout).toMatch(/\n1\. \[One\]\(https:\/\/a.*\)\n2\. A book\n3\. \[Three\]\(https:\/\/c/);
  const { sources: listed } = JSON.parse((await succeed("output", "@last", "--json")).stdout);
  expect(listed).toEqual([sources[0], { url: null, title: "A book" }, sources[2]]);
  expect((await succeed("check", "@last", "--dry-run")).stdout).toContain("https://c.example/three");
});

test("rerun says that it asks another account than the old request's", async () => {
  const { env, run, succeed } = homeWith<Record<string, string>>({}, { clock: new VirtualClock() });
  for (const name of ["openai", "exa"] as const) {
    const { url } = await ProviderDouble.start(name);
    await inProcess(["login", name, "--base-url", url, "--with-key"], { env, input: KEY });
  }
  const id = (await succeed("create", "why", "-p", "openai")).stdout.trim();
  expect((await run("rerun", id)).stderr).toMatch(
    /^note: resp_\w+ was created at \S+ \(profile openai\); the new request goes to \S+ \(profile exa\)$/m,
  );
  expect((await run("rerun", id, "-p", "openai")).stderr).not.toContain("goes to");
});

test("ALL_PROXY, which is not used, is named with the variable that is, but not on the way to this machine", async () => {
  const { double, env } = await account("openai");
  const person = { ...env, ALL_PROXY: "socks5://127.0.0.1:9", RESEARCH_BASE_URL: "https://service.invalid" };
  const seen = await inProcess(["status", "resp_1", "--request-timeout", "5s"], { env: person });
  expect(seen.stderr).toContain("note: ALL_PROXY is not used: set HTTPS_PROXY\n");
  const doctor = await inProcess(["doctor", "--offline", "--json"], { env: person });
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({ id: "proxy", status: "warn", fix: "set HTTPS_PROXY to an http:// proxy" }),
  );
  for (const more of [
    { HTTPS_PROXY: "http://127.0.0.1:9" },
    { NO_PROXY: "*" },
    { RESEARCH_BASE_URL: double.url },
  ]) {
    const quiet = await inProcess(["status", "resp_1", "--request-timeout", "5s"], {
      env: { ...person, ...more },
    });
    expect(quiet.stderr).not.toContain("ALL_PROXY");
  }
});

test("https:// at a port that speaks no TLS is said in words, without OpenSSL's", async () => {
  const port = await listen(createServer());
  const env = {
    RESEARCH_PROVIDER: "openai",
    RESEARCH_BASE_URL: `https://127.0.0.1:${port}`,
    RESEARCH_API_KEY: KEY,
  };
  const seen = await homeWith(env).run("create", "why");
  expect(seen).toMatchObject({
    code: 9,
    stderr: expect.stringContaining("it does not use TLS: is its"),
  });
  expect(seen.stderr).not.toMatch(/SSL|openssl/i);
});
