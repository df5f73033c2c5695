import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NAMES } from "../providers/rows.js";
import { accounts, addDoubles } from "../support/accounts.js";
import { listed } from "../support/home.js";
import { ProviderDouble } from "../support/providers/double.js";
import { type Running, start } from "../support/run.js";

const PROMPT = "why => completed";

/**
 * Compares six accounts, killed when a double sees the nth request of the command, for each n of `blows` in turn; then
 * lets the same command end, settles what is unknown, and lets it end once more.
 */
async function crash(blows: readonly number[], variables: Record<string, string> = {}) {
  const { home, env, run } = await accounts({});
  let running: Running | undefined;
  let left = Number.POSITIVE_INFINITY;
  const fault = () => {
    if (--left === 0) running?.kill("SIGKILL");
    return undefined;
  };
  const doubles = await Promise.all(NAMES.map((name) => ProviderDouble.start(name, { fault })));
  await addDoubles(env, ...doubles);
  Object.assign(env, variables);
  const flags = [...NAMES.flatMap((name) => ["-p", name]), "-o", "dir", "--interval", "20ms", "--json"];
  const go = (blow = Number.POSITIVE_INFINITY) => {
    left = blow;
    running = start(["compare", PROMPT, ...flags], { home, env });
    return running.done;
  };
  const kills: (string | null)[] = [];
  for (const blow of blows) kills.push((await go(blow)).signal);
  const last = await go();
  const posts = doubles.map(({ server }) => server.count("create"));
  const unknown = (await listed(home)).filter(({ status }) => status === "UNKNOWN");
  for (const { local_id } of unknown) {
    const { profile } = accountsIn(last.stdout).find((account) => account.local_id === local_id) ?? {};
    const [id] = [...(doubles.find(({ provider }) => provider === profile)?.runs.keys() ?? [])];
    const settled = await run("resolve", local_id, ...(id ? ["--request-id", id] : ["--not-created"]));
    expect(settled.code, settled.stderr).toBe(0);
  }
  const settled = await go();
  const made = doubles.map(({ runs }) => runs.size);
  return { last, unknown, kills, settled, posts, made, dir: join(home, "dir") };
}

const accountsIn = (stdout: string) =>
  JSON.parse(stdout).accounts as { profile: string; local_id: string; status: string }[];

test.each([[[1, 1]], [[3, 2, 4]], [[12, 5]]])(
  "kill -9 of a compare at requests %j: one POST at each account, and what was under way is unknown and named",
  async (blows) => {
    const { last, unknown, kills, settled, posts, made, dir } = await crash(blows);
    expect(kills).toContain("SIGKILL");
    expect(Math.max(...posts)).toBe(1);
    expect(last.code, last.stderr).toBe(unknown.length > 0 ? 11 : 0);
    const ended = accountsIn(last.stdout);
    expect(ended.map(({ profile }) => profile)).toEqual(NAMES);
    for (const { local_id, status } of ended)
      expect(status).toBe(unknown.some((entry) => entry.local_id === local_id) ? "UNKNOWN" : "COMPLETED");
    expect(settled.code, settled.stderr).toBe(0);
    expect(made).toEqual([1, 1, 1, 1, 1, 1]);
    for (const name of NAMES)
      expect(readFileSync(join(dir, `${name}.md`), "utf8")).toContain("An answer to: why");
    expect(readdirSync(dir).sort()).toEqual(
      [".research-batch", "index.md", ...NAMES.map((name) => `${name}.md`)].sort(),
    );
  },
);

test("with the history off the journal alone says what was sent", async () => {
  const { last, kills, settled, posts, made } = await crash([2, 4], { RESEARCH_NO_HISTORY: "1" });
  expect(kills).toContain("SIGKILL");
  expect(Math.max(...posts)).toBe(1);
  const states = accountsIn(last.stdout).map(({ status }) => status);
  expect(
    states.every((status) => status === "COMPLETED" || status === "UNKNOWN"),
    last.stdout,
  ).toBe(true);
  expect(Math.max(...made)).toBe(1);
  expect([last.code, settled.code]).toEqual(Array(2).fill(states.includes("UNKNOWN") ? 11 : 0));
});
