import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { providerNamed, ResearchClient } from "../../src/index.js";
import { homeWith } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { account } from "../support/providers/account.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { NAMES } from "./rows.js";

async function batchAccount(name: (typeof NAMES)[number], rows: string) {
  const made = await account(name, {}, { "rows.csv": rows });
  const { run, home } = made;
  const batch = (...flags: string[]) =>
    run("batch", join(home, "rows.csv"), "--out", join(home, "out"), "--json", ...flags);
  return { ...made, batch };
}

describe("a column `model` of a CSV", () => {
  const ROWS = "prompt,model\none,high\ntwo,\n";

  test("names the model of each row, and an empty one none", async () => {
    const { batch, double } = await batchAccount("exa", ROWS);
    const seen = await batch();
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    const asked = [...double.runs.values()].map(({ body }) => [body.query, body.effort]);
    expect(asked.toSorted()).toEqual([
      ["one", "high"],
      ["two", "medium"],
    ]);
  });

  test("wins over --model, which is for the rows that name none; the same command sends nothing more", async () => {
    const { batch, double, posts } = await batchAccount("exa", ROWS);
    expect((await batch("--model", "low")).code).toBe(0);
    const asked = [...double.runs.values()].map(({ body }) => [body.query, body.effort]);
    expect(asked.toSorted()).toEqual([
      ["one", "high"],
      ["two", "low"],
    ]);
    expect((await batch("--model", "low")).code).toBe(0);
    expect(posts()).toBe(2);
  });

  test("is named by the dry run, for each row where they differ", async () => {
    const { run, home, posts } = await batchAccount("exa", `${ROWS}three,\nfour,max\n`);
    const dryRun = (...flags: string[]) => run("batch", join(home, "rows.csv"), "--dry-run", ...flags);
    expect((await dryRun("--model", "low")).stdout).toContain(
      "line 2 (high): one\nline 3 (low): two\nline 4 (low): three\nline 5 (max): four\n",
    );
    const { first } = JSON.parse((await dryRun("--json")).stdout);
    const models = first.map(({ name, model }: Record<string, unknown>) => [name, model]);
    expect(models).toEqual([
      ["line 2", "high"],
      ["line 3", "medium"],
      ["line 4", "medium"],
      ["line 5", "max"],
    ]);
    expect(posts()).toBe(0);
  });

  test("is a column as any other if a template names it", async () => {
    const { batch, double } = await batchAccount("exa", ROWS);
    const seen = await batch("--template", "{{prompt}} for {{model}}");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    for (const { body } of double.runs.values()) expect(body.effort).toBe("medium");
    expect([...double.runs.values()].map(({ body }) => body.query)).toContain("one for high");
  });
});

test("what was cut short is sent again by --retry-partial alone", async () => {
  const { batch, posts } = await batchAccount("openai", "prompt\nwhy => in_progress incomplete\n");
  expect((await batch()).code).toBe(3);
  expect((await batch()).code).toBe(3);
  expect((await batch("--retry-failed")).code).toBe(3);
  expect(posts()).toBe(1);
  expect((await batch("--retry-partial")).code).toBe(3);
  expect(posts()).toBe(2);
});

describe.each(NAMES)("%s", (name) => {
  test("doctor tries the key by its own probe, and creates nothing", async () => {
    const { run, succeed, env, posts } = await account(name);
    const good = await succeed("doctor", "--json");
    expect(JSON.parse(good.stdout).checks).toContainEqual(
      expect.objectContaining({ id: "auth", status: "ok" }),
    );
    env.RESEARCH_API_KEY = "another-key-value";
    const wrong = await run("doctor", "--json");
    expect(wrong, wrong.stdout).toMatchObject({ code: 4 });
    expect(posts()).toBe(0);
  });

  test("quota counts by one's own number, and knows no tiers", async () => {
    const { run, succeed, posts } = await account(name);
    await succeed("create", "why");
    const seen = await run("quota", "--per-hour", "5", "--json");
    expect(JSON.parse(seen.stdout)).toMatchObject({ used: 1, limit: 5 });
    expect(await run("quota", "--tier", "pro")).toMatchObject({ code: 2 });
    expect(await run("create", "again", "--per-hour", "1")).toMatchObject({ code: 7 });
    expect(posts()).toBe(1);
  });

  test("a client of the library speaks its dialect", async () => {
    const { double } = await account(name);
    const provider = providerNamed(name);
    const client = new ResearchClient({
      ...{ baseUrl: double.url, apiKey: KEY },
      ...(provider && { dialect: () => provider.load(provider.defaultModel) }),
    });
    const { request_id } = await client.create({ prompt: "why" });
    for await (const event of client.watch(request_id, { interval: 1 })) expect(event.kind).toBe("state");
    expect(await client.output(request_id)).toMatchObject({ output: "An answer to: why" });
    expect(double.problems).toEqual([]);
    await client.close();
  });
});

test("a budget of Exa's is stored with a metered effort, and refused with a fixed one", async () => {
  const double = await ProviderDouble.start("exa");
  const { env, run, succeed } = homeWith();
  await inProcess(["login", "--provider", "exa", "--base-url", double.url, "--with-key"], {
    env,
    input: KEY,
  });
  const set = ["config", "set", "set", 'budget={"maxCostDollars":2}'];
  expect(await run(...set)).toMatchObject({ code: 2, stderr: expect.stringContaining("--model auto") });
  await run("config", "set", "model", "auto");
  await succeed(...set);
  await succeed("create", "why");
  expect(await run("create", "why", "--model", "low")).toMatchObject({ code: 2 });
  expect([...double.runs.values()].map(({ body }) => body.budget)).toEqual([{ maxCostDollars: 2 }]);
});
