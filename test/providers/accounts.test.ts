import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { type DoubleOptions, KEY, ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";

const NAMES: ProviderName[] = ["openai", "perplexity", "exa", "parallel"];
const SCHEMA = JSON.stringify({
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
  additionalProperties: false,
});

/** A machine that is set up for a double. Time is virtual: waiting costs none. */
async function account(name: ProviderName, options: DoubleOptions = {}) {
  const double = await ProviderDouble.start(name, options);
  const home = folderWith();
  const clock = new VirtualClock();
  const env: Record<string, string> = { HOME: home, ...foldersIn(home), ...double.env };
  const run = (...argv: string[]) => inProcess(argv, { env, clock });
  return { double, home, env, clock, run, posts: () => double.server.count("create") };
}

describe.each(NAMES)("%s", (name) => {
  test("run: one POST, the result with its sources, and nothing of the key", async () => {
    const { run, double, home, posts } = await account(name);
    const seen = await run("run", "Why is the sky blue?");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
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
    const { run, double } = await account(name);
    const seen = await run("run", "why", "--schema", SCHEMA, "--strict", "--json");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(seen.stdout)).toMatchObject({ status: "COMPLETED", output: { answer: "why" } });
    expect(double.problems).toEqual([]);
  });

  test("JSON data is in the interface's words, with the provider's own word", async () => {
    const { run, double } = await account(name);
    const created = await run("create", "why", "--json");
    const data = JSON.parse(created.stdout);
    expect(data).toMatchObject({
      status: "PENDING",
      provider_status: "queued",
      created_at: "2030-01-01T00:00:00.000Z",
    });
    const id = String(data.request_id);
    expect(double.runs.has(id)).toBe(true);
    const status = await run("status", id.slice(id.lastIndexOf("_") + 1).slice(0, 8), "--json");
    expect(JSON.parse(status.stdout)).toMatchObject({ request_id: id, provider_status: "queued" });
  });

  test("the result is kept: it comes without a request, until it is too old", async () => {
    const { run, home, double } = await account(name);
    const id = (await run("create", "why")).stdout.trim();
    await run("watch", id);
    if (name === "parallel") await run("output", id);
    const before = double.server.count();
    const seen = await run("output", id);
    expect(seen.stdout).toContain("An answer to: why");
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
    const home = folderWith();
    const env = { HOME: home, ...foldersIn(home) };
    const login = ["login", "--provider", name, "--base-url", double.url, "--with-key"];
    const wrong = await inProcess(login, { env, input: "wrong-key-value\n" });
    expect(wrong, wrong.stderr).toMatchObject({ code: 4 });
    expect(existsSync(foldersIn(home).RESEARCH_CONFIG_DIR)).toBe(false);
    const good = await inProcess(login, { env, input: `${KEY}\n` });
    expect(good, good.stderr).toMatchObject({ code: 0 });
    expect(good.stderr).toContain("not yet tried on a live account");
    const made = await inProcess(["create", "why"], { env });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const list = await inProcess(["config", "get", "provider"], { env });
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
    expect(seen.stdout + curl.stdout).not.toContain(KEY);
    expect(double.server.count()).toBe(0);
  });

  test.each([
    [["--set", "stream=true"], /cannot be set/],
    [["--set", "=x"], /invalid value for --set/],
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
    const model = { openai: "gpt-x", perplexity: "a/b", exa: "high", parallel: "ultra" }[name];
    await run("create", "why", "--model", model, "--set", 'metadata={"a":"b"}');
    await run("rerun", "@last");
    const bodies = [...double.runs.values()].map(({ body }) => body);
    expect(bodies[0]).toMatchObject({ metadata: { a: "b" } });
    expect(JSON.stringify(bodies[0])).toContain(model);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(double.problems).toEqual([]);
    expect(await listed(home)).toMatchObject([{ model, options: { metadata: { a: "b" } } }, { model }]);
  });

  test("--after sends what the provider takes for it", async () => {
    const { run, double } = await account(name);
    const id = (await run("create", "why")).stdout.trim();
    const seen = await run("create", "and then?", "--after", "@last");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    const [, second] = [...double.runs.values()];
    const expected = name === "parallel" ? `trun_inter_${id.slice(5)}` : id;
    expect(Object.values(second?.body ?? {})).toContain(expected);
    expect(double.problems).toEqual([]);
  });

  test("a 404 to the polls of the first minute is not the end", async () => {
    let polls = 0;
    const { run } = await account(name, {
      fault: (operation) =>
        operation === "status" && ++polls <= 2
          ? does.answer({ status: 404, body: '{"error":{"message":"No such run.","code":"not_found"}}' })
          : undefined,
    });
    const seen = await run("run", "why");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
  });

  test("no money is 6, waits for nothing and made nothing", async () => {
    const body =
      name === "exa"
        ? '{"error":"no credits","tag":"NO_MORE_CREDITS"}'
        : '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}';
    const status = name === "openai" ? 429 : name === "perplexity" ? 401 : 402;
    const { run, home, posts } = await account(name, {
      fault: (operation) =>
        operation === "create" ? does.answer({ status, body, headers: { "retry-after": 3_600 } }) : undefined,
    });
    const seen = await run("create", "why", "--wait-for-quota", "--json");
    expect(seen.code).toBe(6);
    expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "NO_CREDIT", exit_code: 6, http_status: status }]);
    expect(posts()).toBe(1);
    expect(await listed(home)).toEqual([]);
  });
});

test("a wait for a provider's limit is not called one of the hour", async () => {
  let creates = 0;
  const body = '{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}';
  const { run } = await account("openai", {
    fault: (operation) =>
      operation === "create" && ++creates === 1
        ? does.answer({ status: 429, body, headers: { "retry-after": 1 } })
        : undefined,
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
});

describe("stop", () => {
  test.each<[ProviderName, number, RegExp]>([
    ["openai", 0, /STOPPED/],
    ["perplexity", 0, /STOPPED/],
    ["exa", 0, /STOPPED/],
    ["parallel", 6, /no way to stop.*goes on and is paid for/],
  ])("at %s ends with %d", async (name, code, says) => {
    const { run, double } = await account(name);
    const id = (await run("create", "why => queued running")).stdout.trim();
    const seen = await run("stop", id, "-y");
    expect(seen).toMatchObject({ code });
    expect(seen.stdout + seen.stderr).toMatch(says);
    if (name === "parallel") expect(double.server.count()).toBe(1);
  });

  test.each<ProviderName>(["openai", "perplexity", "exa"])(
    "at %s of what has ended is 6 with its state",
    async (name) => {
      const { run } = await account(name);
      const id = (await run("create", "why => completed")).stdout.trim();
      await run("watch", id);
      const seen = await run("stop", id, "-y", "--json");
      expect(seen.code).toBe(6);
    },
  );

  test("one that only begins is asked about for 16 s, and then not called stopped", async () => {
    const { run, clock, double } = await account("perplexity", {
      fault: (operation) =>
        operation === "stop"
          ? does.answer({ body: '{"response_id":"resp_x","status":"cancelling"}' })
          : undefined,
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
    ["requires_action", /waits for somebody \(requires_action\)/],
    ["pondering", /has been pondering for ten minutes/],
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
  const { run, home, clock } = await account("openai");
  const id = (await run("create", "why")).stdout.trim();
  await run("watch", id);
  const folder = join(foldersIn(home).RESEARCH_STATE_DIR, "results");
  expect(readdirSync(folder)).toHaveLength(1);
  await clock.sleep(2 * 3_600_000);
  const seen = await run("history", "forget", id, "-y");
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
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
  test("a provider's own variable is used at its own origin only", async () => {
    const { double, env } = await account("openai");
    const { RESEARCH_API_KEY: _, ...rest } = env;
    const seen = await inProcess(["create", "why"], { env: { ...rest, OPENAI_API_KEY: KEY } });
    expect(seen).toMatchObject({ code: 4, stderr: expect.stringContaining("no API key") });
    expect(double.server.count()).toBe(0);
  });

  test("a base URL without a provider takes nothing of a provider's profile", async () => {
    const double = await ProviderDouble.start("openai");
    const home = folderWith();
    const env = { HOME: home, ...foldersIn(home) };
    await inProcess(["login", "--provider", "openai", "--base-url", double.url, "--with-key"], {
      env,
      input: KEY,
    });
    await inProcess(["config", "set", "model", "gpt-x"], { env });
    const before = double.server.count();
    const seen = await inProcess(["create", "why", "--base-url", double.url], { env });
    expect(seen).toMatchObject({ code: 4 });
    expect(double.server.count()).toBe(before);
  });
});

test("a batch of 40 at 5 creates a minute and then no money: paced, stopped with 6, gone on by the same command", async () => {
  let money = 12;
  const times: number[] = [];
  const clock = new VirtualClock();
  const double = await ProviderDouble.start("exa", {
    fault: (operation) => {
      if (operation !== "create") return undefined;
      const now = clock.now();
      if (times.filter((at) => at > now - 60_000).length >= 5)
        return does.answer({ status: 429, body: '{"error":"Too many requests","tag":"RATE_LIMIT"}' });
      if (money === 0)
        return does.answer({ status: 402, body: '{"error":"No credits","tag":"NO_MORE_CREDITS"}' });
      money--;
      times.push(now);
      return undefined;
    },
  });
  const home = folderWith({ "rows.txt": Array.from({ length: 40 }, (_, i) => `Question ${i}`).join("\n") });
  const env = { HOME: home, ...foldersIn(home), ...double.env };
  const out = join(home, "out");
  const argv = ["batch", join(home, "rows.txt"), "--out", out, "--json"];
  const first = await inProcess(argv, { env, clock });
  expect(first.code, first.stderr).toBe(6);
  expect(jsonErrors(first.stderr)).toMatchObject([{ code: "NO_CREDIT" }]);
  expect(double.runs.size).toBe(12);
  expect(jsonLines(first.stdout).at(-1)).toMatchObject({
    summary: { rows: 40, done: 12, waiting: 28, refused: 0, cost_dollars: 12 * 0.42 },
  });
  money = 100;
  const second = await inProcess(argv, { env, clock });
  expect(second.code, second.stderr).toBe(0);
  expect(double.runs.size).toBe(40);
  expect(new Set([...double.runs.values()].map(({ body }) => body.query)).size).toBe(40);
  expect(double.problems).toEqual([]);
});
