import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { accounts, type Fault } from "../../../support/accounts.js";
import { ok, only } from "../../../support/behaviours.js";
import { requireBuild } from "../../../support/build.js";
import { citedWeb, publicWeb } from "../../../support/cited-web.js";
import { folderWith } from "../../../support/folder.js";
import { holding, honest } from "../../../support/held-sentences.js";
import { InProcess, research } from "../../../support/in-process.js";
import { buildReport, HELD, POOL, SET } from "../../../support/judged-report.js";
import { listen } from "../../../support/listen.js";
import {
  answers,
  type ChatRequest,
  hangs,
  modelEndpoint,
  type Play,
} from "../../../support/model-endpoint.js";
import { ProviderDouble } from "../../../support/providers/double.js";
import { environment, start } from "../../../support/run.js";
import { screen } from "../../../support/screen.js";
import { jsonLines } from "../../../support/world.js";

// Pages are read in a process of the build.
beforeAll(requireBuild);

const KEY = "sk-model-4711-secret";
const SUPPORTS = SET.map(({ verdict }) => verdict);

/** A report, its page, and an endpoint that does what a script says. */
async function judging(script: (request: ChatRequest) => Play = HELD) {
  const { url, asked } = await citedWeb(POOL);
  const endpoint = await modelEndpoint(script);
  const home = folderWith({ "report.md": buildReport(url) });
  const check = (args: string[] = [], env = {}) =>
    research(["check", "report.md", "--allow-private", ...args], { home, cwd: home, env });
  const flags = ["--model", "m", "--model-url", endpoint.url];
  return { url, asked, endpoint, home, check, flags };
}

const supportsOf = (stdout: string) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t")[4]);
const noticesOf = (stderr: string) =>
  jsonLines(stderr).flatMap(({ notice }) => (notice as { code?: string } | undefined)?.code ?? []);

test("a model adds what it can prove: a column, what it contradicts first, its cost, and 14", async () => {
  const { check, flags, endpoint } = await judging();
  const { code, stdout, stderr } = await check([...flags, "--model-price", "1/2"], {
    RESEARCH_MODEL_API_KEY: KEY,
  });
  expect(supportsOf(stdout)).toEqual(SUPPORTS);
  expect(stdout.split("\n")[2]).toMatch(/^unchecked\t/);
  expect(code).toBe(14);
  expect(stderr).toMatch(
    /m at http:\/\/127\.0\.0\.1:\d+ will judge 4 citations: about 1 call and [\d,]+ tokens/,
  );
  expect(stderr).toMatch(/the model used 1 call and [\d,]+ tokens \(\$0\.\d+\)/);
  expect(stderr).toContain("the model: 1 contradicted, 1 not stated, 2 supported");
  expect(stdout + stderr).not.toContain(KEY);
  expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
});

test("as JSON: support and quote as they stand on the page, the model, and the metrics", async () => {
  const { check, flags } = await judging();
  const { stdout, stderr } = await check([...flags, "--json"]);
  const [outcome] = jsonLines(stdout) as unknown as {
    citations: { support: string; quote: string | null }[];
  }[];
  expect(outcome?.citations.map(({ support }) => support)).toEqual(SUPPORTS);
  expect(outcome?.citations.map(({ quote }) => quote)).toEqual(SET.map(({ quote }) => quote || null));
  expect(outcome).toMatchObject({
    model: "m",
    counts: { supported: 2, contradicted: 1, not_stated: 1, missing: 0 },
    metrics: { citation_accuracy: 0.5, effective_citations: 2, links_work: 1, citation_coverage: 1 },
  });
  expect(noticesOf(stderr)).toEqual(["MODEL", "MODEL_USED"]);
});

test("on a page a contradicted sentence is marked so, with the quote", async () => {
  const { check, flags } = await judging();
  const { stdout } = await check([...flags, "--html"]);
  expect(stdout).toMatch(/<a class="mark bad"[^>]*>contradicted<\/a>/);
  expect(stdout).toContain("Its queue holds 250 requests.");
});

test("on a terminal what is contradicted stands first: sentence, quote and address together", async () => {
  const { url } = await citedWeb(POOL);
  const { url: model } = await modelEndpoint(HELD);
  const missing = "The pool takes 1,700 connections.";
  const home = folderWith({ "report.md": buildReport(url, [missing]) });
  const args = ["check", "report.md", "--allow-private", "--model", "m", "--model-url", model];
  const shown = screen(args, { home, cwd: home });
  expect(await shown.done).toEqual({ code: 14, signal: 0 });
  const lines = shown
    .text()
    .split("\n")
    .map((line) => line.trim());
  const first = lines.findIndex((line) => line.startsWith("contradicted"));
  expect(lines.slice(first, first + 6)).toEqual([
    "contradicted  The queue of the pool holds 1,600 requests.",
    "the page: Its queue holds 250 requests.",
    `${url}/pool`,
    `missing  ${missing}`,
    "not on the page: 1,700",
    `${url}/pool`,
  ]);
  expect(lines.findIndex((line) => line.startsWith("missing"))).toBe(first + 3);
});

test("an endpoint that does not answer within --model-time leaves each support open, and the exit as it is without", async () => {
  const { check, flags } = await judging(() => hangs);
  const without = await check();
  const { code, stdout, stderr } = await check([...flags, "--model-time", "1s", "--json"]);
  expect(code).toBe(without.code);
  expect(jsonLines(stdout)[0]).toMatchObject({
    ...{ model: "m", complete: true, metrics: { citation_accuracy: null } },
    citations: SET.map(() => ({ support: null, quote: null })),
  });
  expect(noticesOf(stderr)).toContain("MODEL_LIMIT");
  expect(stderr).toContain("the limit of --model-time was reached");
});

test("the variables name the model, too, and one without the other is exit 2 before anything is asked", async () => {
  const { check, flags, endpoint, asked } = await judging();
  const [, name = "", , url = ""] = flags;
  const both = { RESEARCH_MODEL_NAME: name, RESEARCH_MODEL_URL: url };
  expect(supportsOf((await check([], both)).stdout)).toEqual(SUPPORTS);
  const before = asked.length;
  for (const [args, env] of [
    [["--model", name], {}],
    [["--model-url", url], {}],
    [["--model-calls", "3"], {}],
    [[], { RESEARCH_MODEL_NAME: name }],
    [[], { RESEARCH_MODEL_URL: url }],
  ] as [string[], object][])
    expect((await check(args, env)).code).toBe(2);
  expect(asked).toHaveLength(before);
  expect(endpoint.requests).toHaveLength(1);
});

test("--dry-run says what the model takes, and asks it for nothing", async () => {
  const { check, flags, endpoint, asked } = await judging();
  const { code, stderr } = await check([...flags, "--dry-run"]);
  expect(code).toBe(0);
  expect(stderr).toContain("will judge 4 citations: about 1 call and 2,400 tokens");
  expect([...asked, ...endpoint.requests]).toEqual([]);
});

test("an endpoint that wants a key is exit 4 before a page is read", async () => {
  const { asked, home } = await judging();
  const paths: string[] = [];
  const server = createServer(({ method, url }, response) => {
    paths.push(`${method} ${url}`);
    response.writeHead(401).end("{}");
  });
  const url = `http://127.0.0.1:${await listen(server)}/v1`;
  const args = ["check", "report.md", "--allow-private", "--model", "m", "--model-url", url];
  const { code, stderr } = await research(args, { home, cwd: home });
  expect(code).toBe(4);
  expect(stderr).toContain("requires a key, and none is set");
  expect(paths).toEqual(["GET /v1/models"]);
  expect(asked).toEqual([]);
});

test("an endpoint that refuses, or a model that fails its test, leaves verdicts and exit as they are without one", async () => {
  const without = await (await judging()).check(["--json"]);
  const verdictsOf = (stdout: string) =>
    (jsonLines(stdout) as unknown as { citations: { verdict: string }[] }[])[0]?.citations.map(
      ({ verdict }) => verdict,
    );
  for (const script of [
    () => answers(500, { error: { message: "it is on fire" } }, { "retry-after": "9999" }),
    () => answers(403, {}),
    holding(({ text }) => ({ verdict: "supported", quote: text })),
  ]) {
    const { check, flags } = await judging(script);
    const { code, stdout, stderr } = await check([...flags, "--model-time", "2s", "--json"], {
      RESEARCH_MODEL_API_KEY: KEY,
    });
    expect(code).toBe(without.code);
    expect(verdictsOf(stdout)).toEqual(verdictsOf(without.stdout));
    expect(jsonLines(stdout)[0]).toMatchObject({ counts: { supported: 0, contradicted: 0, not_stated: 0 } });
    expect(noticesOf(stderr).some((code) => code === "MODEL_FAILED" || code === "MODEL_LIMIT")).toBe(true);
    expect(stdout + stderr).not.toContain(KEY);
  }
});

/** Sentences of which the page says nothing, for a second request. */
const MORE = ["oak", "pine", "elm", "ash", "fir", "yew"].map(
  (tree) => `The pool is made of the wood of ${tree}.`,
);

/** A machine whose provider's reports cite a public web, with a model in the variables. */
async function citing(script: (request: ChatRequest) => Play = HELD, more: readonly string[] = []) {
  const { url, env: web } = await publicWeb(POOL);
  const double = await ProviderDouble.start("openai", { result: () => buildReport(url, more) });
  const endpoint = await modelEndpoint(script);
  const home = folderWith();
  const model = { RESEARCH_MODEL_NAME: "m", RESEARCH_MODEL_URL: endpoint.url, RESEARCH_MODEL_API_KEY: KEY };
  const env = { ...double.env, ...web, ...model };
  return { home, env, endpoint, as: (...args: string[]) => research(args, { home, cwd: home, env }) };
}

test("`run --check` takes the variables alone, says the limits before, and the answers of a kept check stand", async () => {
  const { as, endpoint } = await citing();
  const { code, stderr } = await as("run", "why => completed", "--check");
  expect(code).toBe(14);
  expect(stderr).toContain("using at most 25,000 tokens, 8 calls and 5 minutes per result");
  expect(stderr).toContain("contradicted  The queue of the pool holds 1,600 requests");
  const again = await as("check", "@last", "--json");
  expect(jsonLines(again.stdout)[0]).toMatchObject({ model: "m", counts: { supported: 2, contradicted: 1 } });
  expect(endpoint.requests).toHaveLength(1);
  const [shown] = jsonLines((await as("show", "@last", "--json")).stdout);
  expect(shown).toMatchObject({
    check: { counts: { contradicted: 1 }, metrics: { effective_citations: 2 } },
  });
  expect(JSON.stringify([stderr, again, shown])).not.toContain(KEY);
});

test("a check without a model keeps what an earlier one has proven of the same sentences and pages", async () => {
  const { home, env, endpoint, as } = await citing();
  await as("run", "why => completed");
  await as("check", "@last");
  const bare = { ...env, RESEARCH_MODEL_NAME: "", RESEARCH_MODEL_URL: "" };
  const counts = { supported: 2, contradicted: 1 };
  for (const flags of [[], ["--pages", "1", "--not-domains", "1.1.1.1"]]) {
    await research(["check", "@last", ...flags], { home, cwd: home, env: bare });
    const [shown] = jsonLines((await as("show", "@last", "--json")).stdout);
    expect(shown).toMatchObject({ check: { counts, metrics: { effective_citations: 2 } } });
  }
  const [outcome] = jsonLines((await as("check", "@last", "--json")).stdout);
  expect(outcome).toMatchObject({ model: "m", counts });
  expect(endpoint.requests).toHaveLength(1);
});

test("`batch --check` judges each row, and its results have the metrics", async () => {
  const { as, home } = await citing();
  writeFileSync(join(home, "q.txt"), "one => completed\ntwo => completed\n");
  const { code, stderr } = await as("batch", "q.txt", "--out", "out", "--check");
  expect(code).toBe(14);
  expect(stderr.match(/the model used 1 call/g)).toHaveLength(2);
  const rows = jsonLines(readFileSync(join(home, "out/results.jsonl"), "utf8"));
  expect(rows.map(({ check }) => check)).toEqual(
    Array(2).fill(expect.objectContaining({ metrics: expect.objectContaining({ citation_accuracy: 0.5 }) })),
  );
});

const LYING = holding(({ text }) => ({ verdict: "supported", quote: text }));

test("a model that proves unreliable in a later row of a batch takes with it what it said of the rows before", async () => {
  const { as, home, env } = await citing((request) => (request.nth <= 2 ? HELD(request) : LYING(request)));
  writeFileSync(join(home, "q.txt"), "one => completed\ntwo => completed\nthree => completed\n");
  const { code, stderr } = await as("batch", "q.txt", "--out", "out", "--check", "--json");
  const counts = { supported: 0, contradicted: 0, not_stated: 0, missing: 1, found: 2, unchecked: 1 };
  const metrics = { citation_accuracy: null, effective_citations: null };
  const rows = jsonLines(readFileSync(join(home, "out/results.jsonl"), "utf8"));
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatchObject({ check: { counts, metrics } });
  const lastNotices = new Map(
    jsonLines(stderr).flatMap(({ notice }) => {
      const { code, request_id, counts } = Object(notice);
      return code === "CHECKED" ? [[request_id, counts] as const] : [];
    }),
  );
  expect([...lastNotices.values()]).toEqual(Array(3).fill(expect.objectContaining(counts)));
  expect(code).toBe(14);
  for (const { request_id } of rows) {
    const [shown] = jsonLines((await as("show", `${request_id}`, "--json")).stdout);
    expect(shown).toMatchObject({ check: { counts, metrics } });
  }
  // The same command reads the journal, which has the counts without the model, too.
  const again = await research(["batch", "q.txt", "--out", "out", "--check"], { home, cwd: home, env });
  expect(again.code).toBe(14);
  expect(jsonLines(readFileSync(join(home, "out/results.jsonl"), "utf8"))).toEqual(rows);
});

test("an answer without proof is kept as one: the same report, page and model are not asked again", async () => {
  const wrong = SET.map((one) =>
    one.quote.startsWith("Its") ? { ...one, verdict: "supported" as const } : one,
  );
  const { as, home, env, endpoint } = await citing(honest(wrong));
  const counts = { supported: 2, contradicted: 0, not_stated: 1 };
  const { stderr } = await as("run", "why => completed", "--check");
  expect(stderr).toContain("discarded: 1 answer without proof");
  const bare = { ...env, RESEARCH_MODEL_NAME: "", RESEARCH_MODEL_URL: "" };
  for (const of of [env, bare, env]) {
    const { stdout } = await research(["check", "@last", "--json"], { home, cwd: home, env: of });
    expect(jsonLines(stdout)[0]).toMatchObject({ model: "m", counts });
    expect(stdout).not.toContain("unproven");
  }
  expect(endpoint.requests).toHaveLength(1);
  const other = { ...env, RESEARCH_MODEL_NAME: "another" };
  await research(["check", "@last"], { home, cwd: home, env: other });
  expect(endpoint.requests).toHaveLength(2);
});

test("the built program's `compare --check` judges each account's report with the model of the variables", async () => {
  const { url, env: web } = await publicWeb(POOL);
  const endpoint = await modelEndpoint(HELD);
  const says = (name: string): Fault =>
    only("output", ok({ request_id: `${name}-1`, output: buildReport(url) }));
  const { env, home } = await accounts({ one: says("one"), two: says("two") });
  const model = { RESEARCH_MODEL_NAME: "m", RESEARCH_MODEL_URL: endpoint.url, RESEARCH_MODEL_API_KEY: KEY };
  const args = ["compare", "why?", "-p", "one", "-p", "two", "--check", "--json"];
  const seen = await start(args, { home, env: { ...env, ...web, ...model } }).done;
  expect(seen.code, seen.stderr).toBe(14);
  const notices = jsonLines(seen.stderr).flatMap(({ notice }) => (notice ? [Object(notice)] : []));
  expect(notices.find(({ code }) => code === "MODEL")?.message).toContain(
    "using at most 25,000 tokens, 8 calls and 5 minutes per result",
  );
  const counts = { supported: 2, contradicted: 1, not_stated: 1, missing: 0 };
  const checked = notices.filter(({ code }) => code === "CHECKED");
  expect(checked.map(({ request_id }) => request_id).sort()).toEqual(["one-1", "two-1"]);
  for (const notice of checked) expect(notice).toMatchObject({ counts });
  expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill(`Bearer ${KEY}`),
  );
  expect(seen.stdout + seen.stderr).not.toContain(KEY);
});

test("Ctrl-C keeps what was judged", async () => {
  let run: InProcess | undefined;
  const { as, home, env, endpoint } = await citing(
    (request) => (response) => {
      if (endpoint.requests.length < 2) return HELD(request)(response, request);
      run?.signal("SIGINT");
    },
    MORE,
  );
  await as("run", "why => completed");
  run = new InProcess(["check", "@last", "--json"], { env: environment(home, env) });
  const { signal, stdout } = await run.done;
  expect(signal).toBe("SIGINT");
  const counts = { citations: 10, supported: 2, contradicted: 1, not_stated: 5 };
  expect(jsonLines(stdout)).toMatchObject([{ model: "m", counts }]);
  const [shown] = jsonLines((await as("show", "@last", "--json")).stdout);
  expect(shown).toMatchObject({ check: { counts } });
});
