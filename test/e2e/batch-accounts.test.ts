import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accounts, addDoubles, type Fault } from "../support/accounts.js";
import { answer, errorEnvelope, refuse } from "../support/behaviours.js";
import { listed } from "../support/home.js";
import { ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";

const NO_MONEY = '{"error":{"code":"insufficient_quota","message":"no","type":"x","param":null}}';
const CSV = "key,prompt,profile\na,first,one\nb,second,two\nc,third,one\nd,fourth,two\n";

async function batch(faults: Parameters<typeof accounts>[0], text = CSV, name = "rows.csv") {
  const clock = new VirtualClock();
  const made = await accounts(faults, clock);
  const file = join(made.home, name);
  const out = join(made.home, "out");
  writeFileSync(file, text);
  const lines = () => jsonLines(readFileSync(join(out, "results.jsonl"), "utf8"));
  const go = (...flags: string[]) => made.run("batch", file, "--out", out, ...flags);
  return { ...made, clock, file, out, go, lines, write: (rows: string) => writeFileSync(file, rows) };
}

test("each row goes to its own account, with its key, and the same command again sends nothing", async () => {
  const { go, posts, services, out, home } = await batch({ one: undefined, two: undefined });
  const seen = await go();
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(posts()).toEqual([2, 2]);
  for (const [name, { keys }] of Object.entries(services))
    expect([...keys]).toEqual([`Bearer key-of-${name}`]);
  expect(["a", "b"].map((key) => readFileSync(join(out, `${key}.md`), "utf8"))).toEqual([
    "the report of one",
    "the report of two",
  ]);
  expect((await listed(home)).map((entry) => Object(entry).profile).sort()).toEqual([
    "one",
    "one",
    "two",
    "two",
  ]);
  expect(await go()).toMatchObject({ code: 0 });
  expect(posts()).toEqual([2, 2]);
});

test("where every row names its account, none need be in use, and no variable of one matters", async () => {
  const { go, run, posts, out, env, services } = await batch({ one: undefined, two: undefined });
  await run("config", "set", "model", "x", "-p", "empty");
  await run("config", "use", "empty");
  Object.assign(env, { RESEARCH_API_KEY_FILE: "/nowhere", RESEARCH_BASE_URL: "no address" });
  expect(await go("--dry-run")).toMatchObject({ code: 0 });
  const seen = await go("--html");
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(posts()).toEqual([2, 2]);
  // Each page names the service that made it.
  for (const [key, name] of Object.entries({ a: "one", b: "two" }))
    expect(readFileSync(join(out, `${key}.html`), "utf8")).toContain(services[name]?.server.url);
});

test("an account without money stops its own rows only; the same command sends them later", async () => {
  let isPaid = false;
  const poor: Fault = (operation) =>
    operation === "create" && !isPaid ? refuse(401, "INVALID_API_KEY") : undefined;
  const { go, posts, lines } = await batch({ one: undefined, two: poor });
  const seen = await go("--json");
  expect(seen.code).toBe(4);
  expect(posts()).toEqual([2, 1]);
  expect(
    lines()
      .map(({ key }) => key)
      .sort(),
  ).toEqual(["a", "c"]);
  expect(jsonErrors(seen.stderr)).toMatchObject([{ message: expect.stringMatching(/^profile two: /) }]);
  isPaid = true;
  expect(await go()).toMatchObject({ code: 0 });
  expect(posts()).toEqual([2, 3]);
});

test("each account is paced by its own limit", async () => {
  const rows = Array.from({ length: 6 }, (_, nth) => `q${nth},${nth % 2 ? "one" : "two"}`);
  const { go, posts, run, clock } = await batch(
    { one: undefined, two: undefined },
    `prompt,profile\n${rows.join("\n")}\n`,
  );
  await run("config", "set", "tier", "enterprise", "-p", "one");
  await run("config", "set", "per-day", "2", "-p", "two");
  const before = clock.now();
  const seen = await go();
  expect(seen).toMatchObject({ code: 0 });
  // It is the day that is waited for, and of the second account.
  expect(seen.stderr).toContain("a limit of creates is reached; nothing is sent for");
  expect(posts()).toEqual([3, 3]);
  expect(clock.now() - before).toBeGreaterThan(80_000_000);
});

test("a known key with another account counts as changed, and a row without a profile is what it ever was", async () => {
  const { go, posts, write } = await batch({ one: undefined, two: undefined });
  await go();
  write(CSV.replace("first,one", "first,two"));
  const seen = await go();
  expect(seen.code).toBe(2);
  expect(seen.stderr).toContain('"a"');
  expect(posts()).toEqual([2, 2]);
});

test("what runs is asked for where it was made, whatever account is in use now", async () => {
  let isOver = false;
  const slow: Fault = (operation) =>
    operation === "status" && !isOver
      ? answer({ status: 401, body: errorEnvelope("INVALID_API_KEY") })
      : undefined;
  const { go, run, posts, services, out } = await batch({ one: slow, two: undefined }, "first\n", "rows.txt");
  expect((await go()).code).toBe(4);
  isOver = true;
  await run("config", "use", "two");
  const seen = await go();
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(join(out, "line-1.md"), "utf8")).toBe("the report of one");
  expect(posts()).toEqual([1, 0]);
  expect(services.two?.server.count()).toBe(0);
});

test("instead of --or: of a night whose first account runs dry at row 120, another -p sends the rest, and nothing twice", async () => {
  const { run, home, env } = await accounts({}, new VirtualClock());
  const openai = await ProviderDouble.start("openai", {
    fault: (operation, nth) =>
      operation === "create" && nth >= 120 ? answer({ status: 429, body: NO_MONEY }) : undefined,
  });
  const tavily = await ProviderDouble.start("tavily");
  await addDoubles(env, openai, tavily);
  writeFileSync(
    join(home, "night.txt"),
    Array.from({ length: 150 }, (_, nth) => `question ${nth + 1}\n`).join(""),
  );
  const go = (profile: string) =>
    run("batch", join(home, "night.txt"), "--out", join(home, "out"), "-y", "-p", profile);
  const counts = () => [
    ...[openai, tavily].map(({ server }) => server.count("create")),
    jsonLines(readFileSync(join(home, "out/results.jsonl"), "utf8")).length,
  ];
  expect((await go("openai")).code).toBe(6);
  expect(counts()).toEqual([120, 0, 119]);
  const seen = await go("tavily");
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(counts()).toEqual([120, 31, 150]);
});

test("instead of --or: a column `profile` spreads the rows over accounts, and each takes its own", async () => {
  const rows = Array.from(
    { length: 12 },
    (_, nth) => `question ${nth},${nth % 3 === 0 ? "two" : "one"}
`,
  );
  const { go, posts } = await batch(
    { one: undefined, two: undefined },
    `prompt,profile
${rows.join("")}`,
  );
  expect((await go()).code).toBe(0);
  expect(posts()).toEqual([8, 4]);
});

test("instead of --shard: rows in files of their own, each with a folder of its own and its part of the limit", async () => {
  const clock = new VirtualClock();
  const { run, posts, home } = await accounts({ one: undefined }, clock);
  const prompts = Array.from(
    { length: 20 },
    (_, nth) => `question ${nth}
`,
  );
  const parts = [0, 1, 2, 3].map((part) => prompts.filter((_, nth) => nth % 4 === part).join(""));
  const before = clock.now();
  const codes = parts.map(async (text, part) => {
    writeFileSync(join(home, `part-${part}.txt`), text);
    const out = ["--out", join(home, `out-${part}`), "--per-hour", "10"];
    return (await run("batch", join(home, `part-${part}.txt`), ...out)).code;
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0, 0]);
  expect(posts()).toEqual([20]);
  // All of them count the same hour on one machine: 10 creates at once, and 10 an hour later.
  expect((clock.now() - before) / 3_600_000).toBeCloseTo(1, 1);
});

test.each([
  ["an unknown profile", 2, CSV.replace("one", "nobody"), []],
  ["--set", 2, CSV, ["--set", "a=1"]],
  ["--per-hour", 2, CSV, ["--per-hour", "5"]],
  ["--tier", 2, CSV, ["--tier", "free"]],
  ["a bare --model", 2, CSV, ["--model", "deep"]],
  ["--or", 2, CSV, ["--or", "two"]],
  ["--shard", 2, CSV, ["--shard", "1/2"]],
])("invalid: %s", async (_, code, text, flags) => {
  const { go, posts, out } = await batch({ one: undefined, two: undefined }, text);
  const seen = await go(...flags);
  expect(seen, seen.stderr).toMatchObject({ code, stdout: "" });
  expect(posts()).toEqual([0, 0]);
  expect(existsSync(out)).toBe(false);
});

test("a template that names the column makes it text", async () => {
  const { go, posts } = await batch({ one: undefined, two: undefined });
  expect(await go("--template", "{{prompt}} of {{profile}}")).toMatchObject({ code: 0 });
  expect(posts()).toEqual([4, 0]);
});

test("money that is gone at one provider ends with 6, the other's rows go on, and the same command sends the rest once it is paid", async () => {
  const { run, home, env } = await accounts({}, new VirtualClock());
  const paid = { creates: 1 };
  const exa = await ProviderDouble.start("exa");
  const openai = await ProviderDouble.start("openai", {
    fault: (operation, nth) =>
      operation === "create" && nth > paid.creates
        ? answer({
            status: 429,
            body: NO_MONEY,
          })
        : undefined,
  });
  await addDoubles(env, exa, openai);
  const file = join(home, "rows.csv");
  writeFileSync(file, "prompt,profile\na,exa\nb,openai\nc,exa\nd,openai\ne,openai\nf,exa\n");
  const go = () => run("batch", file, "--out", join(home, "out"), "--model", "exa=high");
  const seen = await go();
  expect(seen.code, seen.stderr).toBe(6);
  expect([exa, openai].map(({ server }) => server.count("create"))).toEqual([3, 2]);
  expect([...exa.runs.values()].map(({ body }) => body.effort)).toEqual(["high", "high", "high"]);
  const ended = () => jsonLines(readFileSync(join(home, "out/results.jsonl"), "utf8"));
  expect(ended().map(({ status }) => status)).toEqual(Array(4).fill("COMPLETED"));
  paid.creates = 9;
  expect((await go()).code).toBe(0);
  expect([exa, openai].map(({ server }) => server.count("create"))).toEqual([3, 4]);
  expect(ended()).toHaveLength(6);
});
