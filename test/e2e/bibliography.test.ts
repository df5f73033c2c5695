import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accounts, addDoubles } from "../support/accounts.js";
import { ok, only } from "../support/behaviours.js";
import { plant } from "../support/home.js";
import { ProviderDouble } from "../support/providers/double.js";
import { screenHere } from "../support/screen-here.js";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const REPORT = "Twice a day [The tide](https://a.example/tide), see https://b.example.";

/** A machine with a request whose result names two pages. */
async function machine(output: unknown = REPORT) {
  const completed_at = "2025-12-31T23:59:59.000+00:00";
  const rig = await world({ fault: only("output", ok({ status: "COMPLETED", output, completed_at })) });
  const id = rig.service.add("x => COMPLETED");
  const run = (...args: string[]) => rig.research(["output", id, ...args]);
  return { ...rig, id, run };
}

test("prints the sources alone, with the day on which the result was there", async () => {
  const m = await machine();
  const csl = await m.run("--bibliography", "csl");
  expect(csl).toMatchObject({ code: 0, stderr: "" });
  const item = (URL: string, title = URL) => {
    return { id: URL, type: "webpage", title, URL, accessed: { "date-parts": [[2025, 12, 31]] } };
  };
  const items = [item("https://a.example/tide", "The tide"), item("https://b.example")];
  expect(JSON.parse(csl.stdout)).toEqual(items);
  const json = await m.run("--bibliography", "csl", "--json");
  expect(json).toMatchObject({ code: 0, stdout: `${JSON.stringify(items)}\n` });
  expect((await m.run("--bibliography", "ris")).stdout).toMatch(
    /^TY {2}- ELEC\r\nTI {2}- The tide\r\nUR {2}- https:\/\/a\.example\/tide\r\nY2 {2}- 2025\/12\/31\r\nER {2}- \r\nTY/,
  );
});

test("the day is that of the history where the service does not say it", async () => {
  const m = await world({
    fault: only("output", ok({ request_id: "r-1", status: "COMPLETED", output: "https://a.example" })),
  });
  plant(m.home, { requestId: "r-1", origin: m.service.url, createdAt: Date.parse("2024-02-28T12:00:00Z") });
  const path = join(m.env.RESEARCH_STATE_DIR, "history.jsonl");
  const seen = { kind: "status", request_id: "r-1", origin: m.service.url, status: "COMPLETED" };
  appendFileSync(path, `\n${JSON.stringify({ ...seen, at: "2024-02-29T01:02:03.000Z" })}\n`);
  expect((await m.research(["output", "r-1", "--bibliography", "ris"])).stdout).toContain(
    "Y2  - 2024/02/29\r\n",
  );
});

test("-o writes it whole, and never over a file", async () => {
  const m = await machine();
  const path = join(m.home, "sources.ris");
  expect(await m.run("--bibliography", "ris", "-o", path)).toMatchObject({
    code: 0,
    stdout: "",
    stderr: `wrote ${path}\n`,
  });
  expect(readFileSync(path, "utf8")).toMatch(/^TY {2}- ELEC\r\n/);
  expect((await m.run("--bibliography", "csl", "-o", path)).code).toBe(12);
  expect((await m.run("--bibliography", "csl", "-o", path, "--force")).code).toBe(0);
  expect(JSON.parse(readFileSync(path, "utf8"))).toHaveLength(2);
});

test("on a terminal nothing in a title acts", async () => {
  const m = await machine("See [a\u0007bell](https://a.example).");
  const shown = screenHere(["output", m.id, "--bibliography", "ris"], { home: m.home, env: m.env });
  expect((await shown.done).code).toBe(0);
  expect(shown.text()).toContain("TI  - a bell");
});

test.each([
  ["--html", "--bibliography ris and --html cannot be used together"],
  ["--web", "--bibliography ris and --web cannot be used together"],
  ["--raw", "--bibliography ris and --raw cannot be used together"],
  ["--json", "--bibliography ris and --json cannot be used together"],
])("with %s it is bad input", async (flag, message) => {
  const m = await machine();
  const run = await m.run("--bibliography", "ris", flag);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(message);
  expect(m.service.server.count()).toBe(0);
});

test("an unknown form is bad input", async () => {
  const m = await machine();
  expect((await m.run("--bibliography", "bibtex")).code).toBe(2);
});

test("a result that names no address says so", async () => {
  const m = await machine("nothing");
  const run = await m.run("--bibliography", "csl", "--json");
  expect(run).toMatchObject({ code: 0, stdout: "[]\n" });
  expect(jsonLines(run.stderr)).toMatchObject([{ notice: { code: "NO_SOURCES" } }]);
});

test("-w that is out of time names the command with the form", async () => {
  const m = await world();
  const id = m.service.add("x => PROCESSING");
  const late = await m.research(["output", "-w", id, "--bibliography", "csl", "--timeout", "200ms"]);
  expect(late.code).toBe(8);
  expect(late.stderr).toContain(`research output -w ${id} --bibliography csl\n`);
});

test("a provider's sources have their titles, and those of a part come with --partial", async () => {
  const { env, run, succeed } = await accounts({});
  const double = await ProviderDouble.start("openai", {
    sources: [
      { url: "https://a.example/x?utm_source=openai", title: "A" },
      { url: "https://www.a.example/x/", title: "A again" },
    ],
  });
  await addDoubles(env, double);
  const id = (await succeed("create", "x => completed", "-p", "openai")).stdout.trim();
  const { stdout } = await succeed("output", "-w", id, "--bibliography", "csl");
  expect(JSON.parse(stdout)).toMatchObject([{ title: "A", URL: "https://a.example/x?utm_source=openai" }]);
  const cut = (await succeed("create", "x => incomplete", "-p", "openai")).stdout.trim();
  await run("watch", cut);
  const refused = await run("output", cut, "--bibliography", "csl", "--json");
  expect(jsonErrors(refused.stderr)).toMatchObject([{ exit_code: 3 }]);
  expect(
    JSON.parse((await succeed("output", cut, "--partial", "--bibliography", "csl")).stdout),
  ).toHaveLength(1);
});
