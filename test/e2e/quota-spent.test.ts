import { expect, test } from "vitest";
import { addDoubles } from "../support/accounts.js";
import { homeWith } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { account } from "../support/providers/account.js";
import { ProviderDouble } from "../support/providers/double.js";
import { screenHere } from "../support/screen-here.js";
import { VirtualClock } from "../support/virtual-clock.js";

const DAY = 86_400_000;

test("a dry run says what it costs where ten costs are known, and nothing before", async () => {
  const { home, env, clock, run } = await account("perplexity");
  const dry = async () =>
    (await inProcess(["batch", "-", "--out", `${home}/out`, "--dry-run"], { env, clock, input: "a\nb\nc\n" }))
      .stdout;
  for (let nth = 0; nth < 9; nth++) await run("run", `q${nth}`);
  expect(await dry()).not.toContain("about $");
  await run("run", "q9");
  expect(await dry()).toContain("about $1.26: 3 rows at the median of your last 10 with this model\n");
});

test("quota says the day and what was spent by what the services said, and --all each account", async () => {
  const clock = new VirtualClock();
  const { env, run, succeed } = homeWith<Record<string, string>>({}, { clock });
  for (const name of ["perplexity", "openai", "parallel", "gemini"] as const) {
    await addDoubles(env, await ProviderDouble.start(name));
    await run("run", "old", "-p", name);
  }
  await clock.sleep(2 * DAY);
  const forgotten = (await run("create", "to be forgotten", "-w", "-p", "perplexity")).stdout.split("\n")[0];
  await clock.sleep(2 * 3_600_000);
  await succeed("history", "forget", String(forgotten), "-y", "-p", "perplexity");
  await run("create", "runs", "-p", "perplexity");
  const quota = async (...flags: string[]) => JSON.parse((await run("quota", "--json", ...flags)).stdout);
  await run("config", "set", "per-day", "5", "-p", "perplexity");
  const ofProfile = await quota("-p", "perplexity");
  expect(ofProfile).toMatchObject({
    ...{ used: 1, limit: null, profile: "perplexity" },
    day: { used: 2, left: 3, limit: 5, next_slot_at: expect.any(String) },
    spent: [
      { since: "24h", requests: 2, running: 1, dollars: 0.42, tokens: 1_200, unsaid: 0 },
      { since: "7d", requests: 3, running: 1, dollars: 0.84, tokens: 2_400, unsaid: 0 },
      { since: "30d", requests: 3 },
    ],
  });
  const openai = await quota("-p", "openai");
  expect(openai).toMatchObject({
    day: null,
    spent: [{ requests: 0, dollars: null, tokens: null }, { dollars: null, tokens: 1_200 }, {}],
  });
  expect((await quota("-p", "gemini")).spent[1]).toMatchObject({ dollars: null, tokens: 1_200, unsaid: 0 });
  expect((await quota("-p", "parallel")).spent[1]).toMatchObject({
    requests: 1,
    dollars: null,
    tokens: null,
    unsaid: 1,
  });
  const all = await quota("--all");
  expect(all.map(({ profile }: { profile: string }) => profile).sort()).toEqual([
    "gemini",
    "openai",
    "parallel",
    "perplexity",
  ]);
  const lines = (await run("quota", "--all")).stdout.split("\n").slice(0, -1).toSorted();
  expect(lines.map((line) => line.replace(/http:\S+/, "ORIGIN"))).toEqual([
    "gemini\t0\t0\t1, 1,200 tokens\t1, 1,200 tokens\tORIGIN",
    "openai\t0\t0\t1, 1,200 tokens\t1, 1,200 tokens\tORIGIN",
    "parallel\t0\t0\t1\t1\tORIGIN",
    "perplexity\t1\t2, $0.42\t3, $0.84\t3, $0.84\tORIGIN",
  ]);
  const seen = screenHere(["quota", "--all"], { env, home: env.HOME, cols: 80 });
  expect((await seen.done).code).toBe(0);
  const [heads = "", ...rows] = seen.text().split("\n");
  expect(heads).toMatch(/^PROFILE +HOUR +24 H +7 D +30 D +ORIGIN$/);
  expect(rows).toHaveLength(4);
  expect(rows.map((row) => row.indexOf("http"))).toEqual(Array(4).fill(heads.indexOf("ORIGIN")));
});
