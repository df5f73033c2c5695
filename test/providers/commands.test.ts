import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { providerNamed, ResearchClient } from "../../src/index.js";
import { folderWith } from "../support/folder.js";
import { foldersIn } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { NAMES } from "./rows.js";

async function account(name: (typeof NAMES)[number], rows = "") {
  const double = await ProviderDouble.start(name);
  const home = folderWith({ "rows.csv": rows });
  const env: Record<string, string> = { HOME: home, ...foldersIn(home), ...double.env };
  const clock = new VirtualClock();
  const run = (...argv: string[]) => inProcess(argv, { env, clock });
  const batch = (...flags: string[]) =>
    run("batch", join(home, "rows.csv"), "--out", join(home, "out"), "--json", ...flags);
  return { double, home, run, batch, posts: () => double.server.count("create") };
}

describe("a column `model` of a CSV", () => {
  const ROWS = "prompt,model\none,high\ntwo,\n";

  test("names the model of each row, and an empty one none", async () => {
    const { batch, double } = await account("exa", ROWS);
    const seen = await batch();
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    const asked = [...double.runs.values()].map(({ body }) => [body.query, body.effort]);
    expect(asked.toSorted()).toEqual([
      ["one", "high"],
      ["two", "auto"],
    ]);
  });

  test("is a column as any other if a template names it", async () => {
    const { batch, double } = await account("exa", ROWS);
    const seen = await batch("--template", "{{prompt}} for {{model}}");
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    for (const { body } of double.runs.values()) expect(body.effort).toBe("auto");
    expect([...double.runs.values()].map(({ body }) => body.query)).toContain("one for high");
  });
});

test("what was cut short is sent again by --retry-partial alone", async () => {
  const { batch, posts } = await account("openai", "prompt\nwhy => in_progress incomplete\n");
  expect((await batch()).code).toBe(3);
  expect((await batch()).code).toBe(3);
  expect((await batch("--retry-failed")).code).toBe(3);
  expect(posts()).toBe(1);
  expect((await batch("--retry-partial")).code).toBe(3);
  expect(posts()).toBe(2);
});

describe.each(NAMES)("%s", (name) => {
  test("doctor tries the key by its own probe, and creates nothing", async () => {
    const { run, double, home, posts } = await account(name);
    const good = await run("doctor", "--only", "auth", "--json");
    expect(good, good.stderr + good.stdout).toMatchObject({ code: 0 });
    expect(JSON.parse(good.stdout).checks).toMatchObject([{ id: "auth", status: "ok" }]);
    const env = { HOME: home, ...foldersIn(home), ...double.env, RESEARCH_API_KEY: "another-key-value" };
    const wrong = await inProcess(["doctor", "--only", "auth", "--json"], { env });
    expect(wrong, wrong.stdout).toMatchObject({ code: 4 });
    expect(posts()).toBe(0);
  });

  test("quota counts by one's own number, and knows no tiers", async () => {
    const { run, posts } = await account(name);
    expect((await run("create", "why")).code).toBe(0);
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
