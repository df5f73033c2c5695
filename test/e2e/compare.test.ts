import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { normalizePageAddress } from "../../src/app/bibliography.js";
import { buildResultNote } from "../../src/cli/commands/compare/format-comparison.js";
import { accounts, addDoubles, addProfile, type Fault } from "../support/accounts.js";
import { html, ok, only, refuse, reset } from "../support/behaviours.js";
import { publicWeb, reportOf } from "../support/cited-web.js";
import { listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { bash } from "../support/run.js";
import { screenHere } from "../support/screen-here.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors } from "../support/world.js";

const PROMPT = "How do tides form?";
/** A report with sources. */
const report = (name: string, ...urls: string[]): Fault =>
  only(
    "output",
    ok({
      request_id: `${name}-1`,
      output: `what ${name} says`,
      sources: urls.map((url) => ({ url, title: "T" })),
    }),
  );

async function compare(...given: Parameters<typeof accounts>) {
  const [faults] = given;
  const made = await accounts(...given);
  const dir = join(made.home, "dir");
  const names = Object.keys(faults).flatMap((name) => ["-p", name]);
  const go = (...flags: string[]) => made.run("compare", PROMPT, ...names, "-o", dir, ...flags);
  return { ...made, dir, go };
}

test("one create at each account, a table on stdout, and nothing is sent twice", async () => {
  const { go, posts, dir, services } = await compare({
    one: report("one", "https://www.a.example/x/", "http://b.example/y?utm_source=q", "https://c.example#z"),
    two: report(
      "two",
      "http://a.example:80/x",
      "https://b.example/y",
      "https://C.example/",
      "https://d.example",
    ),
  });
  const seen = await go();
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(seen.stdout).toContain("| one | COMPLETED |");
  expect(seen.stdout.match(/^- <.*>: one, two$/gm)).toHaveLength(3);
  expect(readFileSync(join(dir, "index.md"), "utf8")).toBe(seen.stdout);
  expect(readFileSync(join(dir, "two.md"), "utf8")).toBe("what two says");
  expect(readdirSync(dir).sort()).toEqual([".research-batch", "index.md", "one.md", "two.md"]);
  for (const [name, { keys }] of Object.entries(services))
    expect([...keys]).toEqual([`Bearer key-of-${name}`]);
  const again = await go();
  expect(again).toMatchObject({ code: 0, stdout: seen.stdout });
  expect(again.stderr).toMatch(/nothing was sent: these reports are from \d{4}-/);
  const json = JSON.parse((await go("--json")).stdout);
  expect(json).toMatchObject({ prompt: PROMPT, dir });
  expect(json.shared_sources).toHaveLength(3);
  expect(json.accounts).toMatchObject([
    {
      profile: "one",
      request_id: "one-1",
      status: "COMPLETED",
      file: "one.md",
      output: "what one says",
      error: null,
    },
    {
      profile: "two",
      request_id: "two-1",
      sources: expect.arrayContaining([{ url: "https://d.example", title: "T" }]),
    },
  ]);
  expect(posts()).toEqual([1, 1]);
  expect((await go("--html")).code).toBe(0);
  expect(readFileSync(join(dir, "index.html"), "utf8")).toContain('href="two.html"');
  expect(readFileSync(join(dir, "two.html"), "utf8")).toContain("<dt>Completed</dt>");
});

test("on a terminal an empty line parts what was said from the table", async () => {
  const { home, env } = await accounts({ one: undefined, two: undefined });
  const shown = screenHere(["compare", PROMPT, "-p", "one", "-p", "two"], { home, env });
  expect(await shown.done).toMatchObject({ code: 0 });
  expect(shown.text()).toMatch(/it took \w+\n\nHow do tides form\?\n═+\n/);
});

test("an account that is refused or unknown is a line, and the same command sends what was not sent", async () => {
  let hasKey = false;
  const { go, posts } = await compare({
    one: undefined,
    two: (operation) => (operation === "create" && !hasKey ? refuse(401, "INVALID_API_KEY") : undefined),
    three: only("create", reset()),
  });
  const seen = await go();
  // Of several errors the first in the order given.
  expect(seen.code).toBe(4);
  expect(seen.stdout).toMatch(/\| one \| COMPLETED .*\n\| two \| WAITING .*\n\| three \| UNKNOWN /);
  hasKey = true;
  const again = await go();
  expect(again.code).toBe(11);
  expect(again.stdout).toContain("| two | COMPLETED ");
  expect(again.stdout).toMatch(/^- three: the request was sent and no readable answer came back/m);
  const json = await go("--json");
  expect(JSON.parse(json.stdout).accounts[2].error).toMatchObject({ code: "OUTCOME_UNKNOWN", exit_code: 11 });
  expect(
    json.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { error: { code: "OUTCOME_UNKNOWN", exit_code: 11, local_id: expect.stringMatching(/^local-/) } },
    { notice: { code: "REUSED" } },
  ]);
  expect(posts()).toEqual([1, 2, 1]);
});

test("an account ends as a run would: 5 where no service is, 8 once its id is known, 3 for FAILED, which is not sent again", async () => {
  const missing = await compare({ one: only("create", html(404)), two: only("create", html(404)) });
  expect((await missing.go()).code).toBe(5);
  const late = await compare({
    one: undefined,
    two: only("status", refuse(401, "X")),
  });
  expect((await late.go()).code).toBe(8);
  const failed = await compare({
    one: undefined,
    two: only("status", ok({ request_id: "two-1", status: "FAILED" })),
  });
  expect([(await failed.go()).code, (await failed.go()).code]).toEqual([3, 3]);
  expect(failed.posts()).toEqual([1, 1]);
});

test.each(["How do tides form?", "-x: it's\n  two `lines`\n", "-x"])(
  "the command that goes on asks %j again, which came on stdin",
  async (input) => {
    const { env, home, posts } = await compare({
      one: undefined,
      two: only("status", ok({ request_id: "two-1", status: "PENDING" })),
    });
    const flags = ["-p", "one", "-p", "two", "-o", join(home, "dir"), "--timeout", "1ms"];
    const seen = await inProcess(["compare", ...flags], { env, input });
    expect(seen.code).toBe(8);
    const [, command = ""] = /go on with: (research compare .*)$/m.exec(seen.stderr) ?? [];
    const isOneLine = input.trim() === input;
    expect(command.endsWith(" < PROMPT")).toBe(!isOneLine);
    writeFileSync(join(home, "PROMPT"), input);
    const next = await bash(command.replace(/PROMPT$/, `'${join(home, "PROMPT")}'`), { env, home });
    expect(next, next.stderr).toMatchObject({ code: 8 });
    expect(posts()).toEqual([1, 1]);
  },
);

test("a folder that holds anything else, another question or other accounts is 12, and nothing is sent", async () => {
  const { go, run, posts, dir } = await compare({ one: undefined, two: undefined, three: undefined });
  expect((await run("compare", PROMPT, "-p", "one", "-p", "two", "-o", dir)).code).toBe(0);
  expect((await go()).code).toBe(12);
  expect((await run("compare", "another", "-p", "one", "-p", "two", "-o", dir)).code).toBe(12);
  writeFileSync(join(dir, "notes.txt"), "mine");
  expect((await run("compare", PROMPT, "-p", "one", "-p", "two", "-o", dir)).code).toBe(12);
  expect(posts()).toEqual([1, 1, 0]);
});

test.each([
  ["one account", 2, ["-p", "one"]],
  ["an account twice", 2, ["-p", "one", "-p", "one"]],
  ["an unknown profile", 2, ["-p", "one", "-p", "nobody"]],
  ["a profile whose file would be the index", 2, ["-p", "one", "-p", "Index"]],
  ["one key at one origin", 2, ["-p", "one", "-p", "same"]],
  ["no key", 4, ["-p", "one", "-p", "keyless"]],
  ["a bare --model", 2, ["-p", "one", "-p", "two", "--model", "deep"]],
  ["--base-url", 2, ["-p", "one", "-p", "two", "--base-url", "http://127.0.0.1:1"]],
])("invalid: %s", async (_, code, flags) => {
  const { run, posts, services, home } = await accounts({ one: undefined, two: undefined });
  const url = services.one?.server.url ?? "";
  await run("config", "set", "base-url", url, "-p", "same");
  await run("config", "set", "api-key", "key-of-one", "-p", "same");
  await run("config", "set", "base-url", url, "-p", "keyless");
  const dir = join(home, "dir");
  const seen = await run("compare", PROMPT, ...flags, "-o", dir);
  expect(seen, seen.stderr).toMatchObject({ code, stdout: "" });
  expect(posts()).toEqual([0, 0]);
  expect(existsSync(dir)).toBe(false);
});

test("a limit of an account, and one of one's own, is 7 at once, and the others go on", async () => {
  const clock = new VirtualClock();
  const limits = { retry: 3_000 };
  const limited: Fault = (operation) =>
    operation === "create" && limits.retry > 0
      ? refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": limits.retry })
      : undefined;
  const { go, run, posts } = await compare({ one: undefined, two: limited, three: undefined }, clock);
  await run("create", "another", "-p", "three");
  const begun = clock.now();
  const seen = await go("--per-day", "1", "--json");
  expect(seen.code).toBe(7);
  expect(JSON.parse(seen.stdout).accounts).toMatchObject([
    { status: "COMPLETED", error: null },
    { status: "WAITING", request_id: null, error: { code: "RATE_LIMIT_EXCEEDED", exit_code: 7 } },
    { status: "WAITING", error: { message: expect.stringContaining("1 creates in 24 hours") } },
  ]);
  expect(seen.stderr).not.toContain("--per-hour");
  expect([posts(), clock.now() - begun < 60_000]).toEqual([[1, 1, 1], true]);
  limits.retry = 0;
  expect((await go()).code).toBe(0);
  expect(posts()).toEqual([1, 2, 2]);
});

test("--check checks each report, also of a finished folder; the counts stand in the table, and 14 is beaten by 8", async () => {
  const { url, asked, env } = await publicWeb();
  const says = (operation: string, id: string) =>
    operation === "output" ? ok({ request_id: id, output: reportOf(url) }) : undefined;
  let isLost = true;
  const made = await compare({
    one: (operation) => says(operation, "one-1"),
    two: (operation) => (operation === "status" && isLost ? refuse(401, "X") : says(operation, "two-1")),
  });
  const { go, run, posts } = made;
  Object.assign(made.env, env);
  expect((await go("--check")).code).toBe(8);
  isLost = false;
  const seen = await go("--check");
  expect(seen.code, seen.stderr).toBe(14);
  expect(seen.stdout).toMatch(/^\| one \| COMPLETED \|.*\| 1 missing, 1 gone, .*2 found \|$/m);
  expect(seen.stdout).toMatch(/^\| two \| COMPLETED \|.*\| 1 missing, 1 gone, .*2 found \|$/m);
  const again = await go("--check", "--json");
  expect(again.code).toBe(14);
  expect(again.stderr).not.toContain('"CHECKED"');
  expect(asked.filter((path) => path === "/pool").length).toBeLessThanOrEqual(2);
  for (const id of ["one-1", "two-1"])
    expect(JSON.parse((await run("show", id, "--json")).stdout)).toMatchObject({
      check: { counts: { gone: 1 } },
    });
  expect((await go()).code).toBe(0);
  expect(posts()).toEqual([1, 1]);
});

test("--domains is asked of each account in its own form, and is 2 for all if one of them has none", async () => {
  const { run, home, env } = await accounts({});
  const openai = await ProviderDouble.start("openai");
  const tavily = await ProviderDouble.start("tavily");
  const exa = await ProviderDouble.start("exa");
  await addDoubles(env, openai, tavily, exa);
  const go = (...names: string[]) =>
    run(
      "compare",
      PROMPT,
      ...names.flatMap((name) => ["-p", name]),
      "-o",
      join(home, "dir"),
      "--domains",
      "B.example,www.a.example",
    );
  expect(await go("openai", "exa")).toMatchObject({ code: 2, stdout: "" });
  expect(existsSync(join(home, "dir"))).toBe(false);
  expect((await go("openai", "tavily")).code).toBe(0);
  const bodies = [openai, tavily].flatMap(({ runs }) => [...runs.values()].map(({ body }) => body));
  expect(bodies).toMatchObject([
    { tools: [{ filters: { allowed_domains: ["a.example", "b.example"] } }] },
    { include_domains: ["a.example", "b.example"] },
  ]);
  expect(exa.server.count()).toBe(0);
});

test("two profiles of one key at Exa ask in turns, one request in 250 ms", async () => {
  const clock = new VirtualClock();
  const { run, succeed, home, env } = await accounts({}, clock);
  const times: number[] = [];
  const exa = await ProviderDouble.start("exa", {
    fault: () => {
      times.push(clock.monotonic());
      return undefined;
    },
  });
  await addDoubles(env, exa);
  await addProfile(env, "again", exa.url, KEY);
  await run("config", "set", "provider", "exa", "-p", "again");
  const flags = ["-p", "exa", "-p", "again", "--model", "again=high", "-o", join(home, "dir")];
  const prompt = `why => ${"running ".repeat(6)}completed`;
  await succeed("compare", prompt, ...flags);
  expect(exa.server.count("create")).toBe(2);
  for (const [nth, at] of times.slice(1).entries())
    expect(at - (times[nth] ?? 0)).toBeGreaterThanOrEqual(249);
});

test("flags that only a batch has are not named, and an unknown one goes on once it is settled", async () => {
  const { go, run, posts, home } = await compare({
    one: only("status", ok({ request_id: "one-1", status: "FAILED" })),
    two: only("create", reset()),
  });
  const seen = await go();
  expect(seen.code).toBe(11);
  expect(seen.stderr).not.toMatch(/--re(?:send|try)-/);
  const unknown = (await listed(home)).find(({ status }) => status === "UNKNOWN");
  expect(seen.stderr).toContain(`research resolve ${unknown?.local_id}`);
  await run("resolve", unknown?.local_id ?? "", "--request-id", "two-1");
  expect((await go()).stdout).toContain("| two | COMPLETED ");
  expect(posts()).toEqual([1, 1]);
});

test("without two accounts it names the command to copy, with those that are stored", async () => {
  const { run, env, posts } = await accounts({ one: undefined, two: undefined });
  const says = async (...words: string[]) => {
    const seen = await run("compare", ...words, "--json");
    const [failure] = jsonErrors(seen.stderr);
    return [failure?.exit_code, failure?.hint];
  };
  const copied = "With the stored accounts: research compare 'How do tides form?' -p one -p two";
  expect(await says(PROMPT)).toEqual([2, copied]);
  expect(await says(PROMPT, "--check", "-p", "two")).toEqual([2, `${copied} --check`]);
  expect(await says()).toEqual([2, copied.replace(" 'How do tides form?'", "")]);
  await run("logout", "-p", "two");
  const another = "`research login PROVIDER` stores another account; the only one so far is one.";
  expect(await says(PROMPT)).toEqual([2, another]);
  env.OPENAI_API_KEY = "sk-of-a-variable";
  await run("config", "set", "provider", "openai", "-p", "openai");
  expect(await says(PROMPT)).toEqual([2, copied.replace("two", "openai")]);
  expect(posts()).toEqual([0, 0]);
});

test("a dry run shows each request and makes nothing", async () => {
  const { go, posts, dir, services } = await compare({ one: undefined, two: undefined });
  const seen = await go("--dry-run");
  expect(seen.stdout.match(/^curl /gm)).toHaveLength(2);
  for (const { server } of Object.values(services)) expect(seen.stdout).toContain(server.url);
  expect([posts(), existsSync(dir)]).toEqual([[0, 0], false]);
});

test("a mark of the sentence is no part of an address, and a redirect of Gemini's is never shared", () => {
  expect(
    normalizePageAddress("https://vertexaisearch.cloud.google.com/grounding-api-redirect/abc"),
  ).toBeUndefined();
  const { sources } = buildResultNote({
    data: {},
    value: "See https://a.example/x, (https://b.example/y). Or **https://c.example/z**!",
    exact: {},
  });
  expect(sources.map(({ url }) => url)).toEqual([
    "https://a.example/x",
    "https://b.example/y",
    "https://c.example/z",
  ]);
  expect(normalizePageAddress("https://www.A.example:443/b/?gclid=1&q=2#c")).toBe("a.example/b?q=2");
});

test("says where the accounts differ, what several say, and how much one says alone", async () => {
  const says = (name: string, output: string): Fault =>
    only("output", ok({ request_id: `${name}-1`, output }));
  const { go, dir } = await compare({
    one: says(
      "one",
      "The tide mill at Rance has 24 turbines. It cost 620 million francs. It opened on 26 November 1966.",
    ),
    two: says(
      "two",
      "- Opened: 26 November 1966\n- The Rance tide mill: 24 turbines\n- Its basin covers 22.5 km²",
    ),
    three: says("three", "The tide mill at Rance has 28 turbines. Nobody visits it."),
  });
  const seen = await go("--html");
  expect(seen.stdout).toContain(`## Where they differ

- one, two: The tide mill at Rance has 24 turbines.
  - three: The tide mill at Rance has 28 turbines.

## What several say

- one, two: It opened on 26 November 1966.

Statements of only one account: one 1, two 1.
`);
  expect(readFileSync(join(dir, "index.html"), "utf8")).toMatch(/<h2 [^>]*>What several say<\/h2>/);
  const { statements } = JSON.parse((await go("--json")).stdout);
  expect(statements).toEqual([
    {
      claim: "The tide mill at Rance has 24 turbines.",
      said_by: ["one", "two"],
      otherwise: [{ profile: "three", passage: "The tide mill at Rance has 28 turbines." }],
    },
    { claim: "It cost 620 million francs.", said_by: ["one"], otherwise: [] },
    { claim: "It opened on 26 November 1966.", said_by: ["one", "two"], otherwise: [] },
    { claim: "Its basin covers 22.5 km²", said_by: ["two"], otherwise: [] },
  ]);
});
