import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requireBuild } from "../../support/build.js";
import { Cluster } from "../../support/cluster.js";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import { query } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { NODE, PROGRAM, Running, start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { ask, post } from "../../support/wire.js";

const { postgres, newDatabase } = await sharedPostgres();
const NOWHERE = "postgresql://research@127.0.0.1:1/research";

it.each([
  [["--role", "api"], "--role needs --database URL"],
  [["--role", "all"], "--role needs --database URL"],
  [["--lease", "3s"], "--lease needs --database URL"],
  [["--database", NOWHERE, "--lease", "0"], "--lease must be at least 1s"],
  [["--database", NOWHERE, "--data", "x"], "--data and --database cannot be used together"],
  [["--database", "postgresql://u:hunter2@h/d"], "--database holds a password"],
  [["--database=postgresql://h/d?password=hunter2"], "--database holds a password"],
  [["--database", "host=h password=hunter2"], "--database is not a PostgreSQL URL"],
  [["--database", ""], "option '--database <url>' argument '' is invalid"],
  [["--database", NOWHERE, "--role", "boss"], "--role"],
  [
    ["--database", NOWHERE, "--role", "worker", "--exec", "true"],
    "--exec and --role worker cannot be used together",
  ],
])("serve %j: exit 2", async (args, sentence) => {
  const { code, stderr, stdout } = await research(["serve", "--port", "0", ...args]);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("hunter2");
  expect([code, stdout]).toEqual([2, ""]);
});

it("RESEARCH_SERVE_DATABASE excludes --data too", async () => {
  const env = { RESEARCH_SERVE_DATABASE: NOWHERE };
  const { code, stderr } = await research(["serve", "--port", "0", "--data", "x"], { env });
  expect(stderr).toContain("--data and RESEARCH_SERVE_DATABASE cannot be used together");
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
    error: {
      message: "The database cannot be used: the connection to 127.0.0.1:1 was refused.",
      exit_code: 12,
    },
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
    ["add-key", ["add", "alice"], /ended.*keys list. shows whether the keys were changed/],
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

  it("keys are added and revoked, a name in use once; with them a tier is refused", async () => {
    const url = await newDatabase();
    const keys = (...args: string[]) => research(["serve", "keys", ...args, "--database", url]);
    const alice = (await keys("add", "alice")).stdout.trim();
    const api = start(["serve", "--port", "0", "--role", "api", "--database", url]);
    const [baseUrl = ""] = await api.waitFor(/http:\S+/);
    const code = async (key: string) =>
      (await ask(baseUrl, { path: "/api/v1/conversation/x/status", key })).status;
    expect([await code(alice), await code(KEY)]).toEqual([404, 401]);
    expect((await keys("add", "alice")).code).toBe(2);
    const tiered = await research(["serve", "--port", "0", "--database", url, "--tier", "pro"]);
    expect([tiered.code, tiered.stderr]).toEqual([2, expect.stringContaining("--tier cannot be used here")]);
    expect((await keys("revoke", "alice")).code).toBe(0);
    await until(async () => (await code(alice)) === 401 || undefined);
    expect((await keys("revoke", "alice")).code).toBe(6);
  });

  it("gives its work back on SIGTERM at once, uncounted, even if the researcher takes seconds to end", async () => {
    const [url, folder] = [await newDatabase(), folderWith()];
    const researcher = `trap "sleep 3; exit 1" HUP; echo start > ${folder}/starts; sleep 300`;
    const cluster = new Cluster(url, { lease: "10m", researcher });
    const { baseUrl } = await cluster.add("api");
    const worker = await cluster.add("worker");
    await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "why?" });
    // PROCESSING is written before the researcher starts.
    await until(async () => existsSync(join(folder, "starts")) || undefined);
    await cluster.end(worker, "SIGTERM");
    const rows = await query(url, "SELECT worker, starts FROM research.conversations");
    expect(rows).toEqual([{ worker: null, starts: 0 }]);
    await cluster.close();
  });
});
