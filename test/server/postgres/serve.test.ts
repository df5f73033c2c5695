import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requireBuild } from "../../support/build.js";
import { folderWith } from "../../support/folder.js";
import { InProcess, research } from "../../support/in-process.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { environment, NODE, PROGRAM, Running, start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { ask } from "../../support/wire.js";

const postgres = await sharedPostgres();
const newDatabase = () => postgres?.database() ?? Promise.reject(new Error("no database"));
const NOWHERE = "postgresql://research@127.0.0.1:1/research";

it.each([
  [["--role", "api"], "--role needs --database URL"],
  [["--role", "all"], "--role needs --database URL"],
  [["--lease", "3s"], "--lease needs --database URL"],
  [["--database", NOWHERE, "--lease", "0"], "--lease must be at least 1s"],
  [["--database", NOWHERE, "--data", "x"], "--data and --database exclude each other"],
  [["--database", "postgresql://u:hunter2@h/d"], "--database holds a password"],
  [["--database=postgresql://h/d?password=hunter2"], "--database holds a password"],
  [["--database", "host=h password=hunter2"], "--database is not a PostgreSQL URL"],
  [["--database", ""], "option '--database <url>' argument '' is invalid"],
  [["--database", NOWHERE, "--role", "boss"], "--role"],
  [["--database", NOWHERE, "--role", "worker", "--exec", "true"], "--exec needs a service that answers"],
])("serve %j: exit 2", async (args, sentence) => {
  const { code, stderr, stdout } = await research(["serve", "--port", "0", ...args]);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("hunter2");
  expect([code, stdout]).toEqual([2, ""]);
});

it("RESEARCH_SERVE_DATABASE excludes --data too", async () => {
  const env = { RESEARCH_SERVE_DATABASE: NOWHERE };
  const { code, stderr } = await research(["serve", "--port", "0", "--data", "x"], { env });
  expect(stderr).toContain("--data and RESEARCH_SERVE_DATABASE exclude each other");
  expect(code).toBe(2);
});

it("a database that cannot be reached: a sentence without anything of the environment, exit 12", async () => {
  const env = {
    RESEARCH_SERVE_DATABASE: "postgresql://secretuser:hunter2@127.0.0.1:1/secretname",
    RESEARCH_SERVE_API_KEY: KEY,
    PGPASSWORD: "hunter2",
  };
  const { code, stderr, stdout } = await research(["serve", "--port", "0", "--json"], { env });
  expect(JSON.parse(stderr)).toMatchObject({
    error: { message: "The database cannot be used: the connection was refused.", exit_code: 12 },
  });
  expect(stderr).not.toMatch(/hunter2|secret/);
  expect([code, stdout]).toEqual([12, ""]);
});

it("without the package pg the sentence says how to install it, exit 12", async () => {
  const installed = folderWith();
  const root = join(PROGRAM, "../..");
  requireBuild();
  for (const name of ["bin", "dist", "package.json"]) {
    cpSync(join(root, name), join(installed, name), { recursive: true });
  }
  const args = [join(installed, "bin/research.js"), "serve", "--port", "0", "--database", NOWHERE];
  const { code, stderr } = await new Running(NODE, args, { env: { RESEARCH_SERVE_API_KEY: KEY } }).done;
  expect(stderr).toContain("npm install -g pg");
  expect(code).toBe(12);
});

describe.skipIf(!postgres)("serve --database (needs PostgreSQL)", () => {
  it("needs a key, given or added", async () => {
    const { code, stderr } = await research(["serve", "--port", "0", "--database", await newDatabase()]);
    expect(stderr).toContain("research serve keys add NAME");
    expect(code).toBe(2);
  });

  it.each(["join", "changed-keys", "set-settings"])(
    "a database that goes away after the migration, before %s: a sentence, exit 12",
    async (statement) => {
      const proxy = new PostgresProxy(await newDatabase());
      proxy.lose(statement, "statement", () => void proxy.away());
      const env = { RESEARCH_SERVE_DATABASE: proxy.url, RESEARCH_SERVE_API_KEY: KEY };
      const { code, stderr, stdout } = await research(["serve", "--port", "0", "--json"], { env });
      expect(stderr).toMatch(/connection/);
      expect([code, stdout]).toEqual([12, ""]);
    },
  );

  it.each([
    ["changed-keys", ["list"], /no connection to the database/],
    ["add-key", ["add", "alice"], /ended.*keys list. shows what was done/],
  ])(
    "a database that goes away before %s of serve keys: a sentence, exit 12",
    async (statement, args, said) => {
      const proxy = new PostgresProxy(await newDatabase());
      proxy.lose(statement, "statement", () => void proxy.away());
      const env = { RESEARCH_SERVE_DATABASE: proxy.url };
      const { code, stderr, stdout } = await research(["serve", "keys", ...args], { env });
      expect(stderr).toMatch(said);
      expect([code, stdout]).toEqual([12, ""]);
    },
  );

  it("a replica with another key or another tier is refused beside the first, exit 12", async () => {
    const args = ["serve", "--port", "0", "--database", await newDatabase()];
    const first = start(args, { env: { RESEARCH_SERVE_API_KEY: KEY } });
    await first.waitFor(/http:\S+/);
    for (const [key, tier] of [
      [KEY, "free"],
      ["another", "enterprise"],
    ] as const) {
      const other = await research([...args, "--tier", tier], { env: { RESEARCH_SERVE_API_KEY: key } });
      expect(other.stderr).toContain("another API key or other hourly limits");
      expect([other.code, other.stdout]).toEqual([12, ""]);
    }
    first.signal("SIGTERM");
    expect((await first.done).code).toBe(0);
  });

  it("runs a command against the shared service", async () => {
    const url = await newDatabase();
    const sources = folderWith({ "tides.md": "Tides form because of the moon's gravity.\n" });
    const command = `"${NODE}" "${PROGRAM}" run "How do tides form?"`;
    const args = ["serve", "--database", url, "--sources", sources, "--exec", command];
    const { code, stdout } = await start(args, { env: { RESEARCH_SERVE_API_KEY: KEY } }).done;
    expect(stdout).toContain("the moon's gravity");
    expect(code).toBe(0);
  });

  it("keys are added and revoked while it runs, and hold at each process", async () => {
    const url = await newDatabase();
    const keys = (...args: string[]) => research(["serve", "keys", ...args, "--database", url]);
    const alice = (await keys("add", "alice")).stdout.trim();
    const without = await research(["serve", "--port", "0", "--database", url, "--tier", "pro"]);
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining("--tier cannot be used here"),
    ]);
    const apis = [1, 2].map(() => start(["serve", "--port", "0", "--role", "api", "--database", url]));
    const urls = await Promise.all(apis.map(async (api) => (await api.waitFor(/http:\S+/))[0]));
    const codes = async (key: string) => {
      const path = "/api/v1/conversation/x/status";
      return (await Promise.all(urls.map((baseUrl) => ask(baseUrl, { path, key })))).map(
        ({ status }) => status,
      );
    };
    const reached = (key: string, code: number) =>
      until(async () => (await codes(key)).every((each) => each === code) || undefined);
    expect(await codes(alice)).toEqual([404, 404]);
    const bob = (await keys("add", "bob", "--tier", "pro")).stdout.trim();
    await reached(bob, 404);
    expect((await keys("add", "bob")).code).toBe(2);
    expect((await keys("revoke", "alice")).code).toBe(0);
    await reached(alice, 401);
    expect(await codes(bob)).toEqual([404, 404]);
    expect((await keys("revoke", "alice")).code).toBe(2);
  });

  it("gives its work back on SIGTERM, and the next one ends it as its first start", async () => {
    const url = await newDatabase();
    const folder = folderWith();
    const env = { RESEARCH_SERVE_API_KEY: KEY };
    const researcher = `if [ -e ${folder}/seen ]; then echo done; else touch ${folder}/seen; sleep 300; fi`;
    const worker = () =>
      start(["serve", "--role", "worker", "--database", url, "--researcher", researcher], { env });
    const api = start(["serve", "--port", "0", "--role", "api", "--database", url], { env });
    const [baseUrl = ""] = await api.waitFor(/http:\S+/);
    const first = worker();
    await first.waitFor(/http:\S+/);
    const settings = { RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: KEY };
    const run = new InProcess(["run", "why?"], { env: environment(folderWith(), settings) });
    await run.waitFor(/PROCESSING/, { on: "stderr" });
    // PROCESSING is written before the researcher starts.
    await until(async () => existsSync(join(folder, "seen")) || undefined);
    first.signal("SIGTERM");
    expect((await first.done).code).toBe(0);
    worker();
    expect(await run.done).toMatchObject({ code: 0, stdout: "done\n" });
  });
});
