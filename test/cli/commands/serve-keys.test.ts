import { spawnSync } from "node:child_process";
import { closeSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import { openedFifo } from "../../support/processes.js";
import { start } from "../../support/run.js";
import { until } from "../../support/service.js";
import { post } from "../../support/wire.js";

let data: string;
beforeEach(() => {
  data = folderWith();
});

const keys = (...args: string[]) => research(["serve", "keys", ...args]);

it("adds a key that is printed once and stored as its hash only, free unless told otherwise, in a folder that is made", async () => {
  const data = join(folderWith(), "new", "data");
  const { code, stdout, stderr } = await keys("add", "alice", "--data", data);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^research-[\w-]{32}\n$/)]);
  expect(stderr).toContain("It is not shown again");
  expect(readFileSync(join(data, "keys.json"), "utf8")).not.toContain(stdout.trim());
  expect((await keys("list", "--data", data)).stdout).toMatch(
    /^alice\tvalid\tfree\t10\t20\t\S+Z\t-\t-\t-\t-\n$/,
  );
});

it("takes no flag of the service beside its own, and its help names none", async () => {
  for (const flags of [["--port", "3"], ["--model=m"], ["--ui"]]) {
    const { code, stderr } = await keys("add", "alice", "--data", data, ...flags);
    expect([code, stderr]).toEqual([2, expect.stringContaining("error: unknown option '--")]);
  }
  expect(existsSync(join(data, "keys.json"))).toBe(false);
  const { stdout } = await keys("add", "--help");
  expect(stdout).toContain("--creates-per-hour");
  expect(stdout).toContain("--request-timeout");
  expect(stdout).not.toContain("--port");
});

it("says all of a key as JSON", async () => {
  const limits = ["--creates-per-hour", "5", "--stops-per-hour", "6"];
  const added = await keys(
    ...["add", "ci", "--tier", "enterprise", ...limits, "--expires", "1h", "--data", data, "--json"],
  );
  expect(JSON.parse(added.stdout)).toMatchObject({
    ...{ name: "ci", tier: "enterprise", creates_per_hour: 5, stops_per_hour: 6 },
    ...{ api_key: expect.stringMatching(/^research-/), expires_at: expect.stringMatching(/Z$/) },
  });
  const [listed] = JSON.parse((await keys("list", "--data", data, "--json")).stdout);
  expect(listed).toMatchObject({ name: "ci", state: "valid" });
  expect(listed).not.toHaveProperty("api_key");
});

it.each([
  ["no store", ["add", "alice"], "no data folder or database was named"],
  ["a blank in a name", ["add", "a b", "--data", "."], "invalid key name"],
  ["a long name", ["add", "x".repeat(65), "--data", "."], "invalid key name"],
  [
    "enterprise without numbers",
    ["add", "a", "--tier", "enterprise", "--data", "."],
    "needs --creates-per-hour",
  ],
  [
    "numbers of another tier",
    ["add", "a", "--creates-per-hour", "5", "--data", "."],
    "need --tier enterprise",
  ],
])("%s is exit 2", async (_name, args, message) => {
  const { code, stdout, stderr } = await research(["serve", "keys", ...args], { cwd: folderWith() });
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
});

it("budgets are added, changed one by one and taken away; spent says nothing of a key without conversations", async () => {
  expect((await keys("list", "--data", data)).stderr).toContain("there are no keys");
  const budgets = ["--budget", "200/30d", "--dollars", "2.5/90m", "--at-once", "3"];
  const added = JSON.parse(
    (await keys("add", "ci", "--tier", "pro", ...budgets, "--data", data, "--json")).stdout,
  );
  expect(added).toMatchObject({ budget: "200/30d", dollars: "2.5/90m", at_once: 3 });
  const set = JSON.parse((await keys("set", "ci", "--at-once", "none", "--data", data, "--json")).stdout);
  expect(set).toMatchObject({ name: "ci", budget: "200/30d", dollars: "2.5/90m", at_once: null });
  expect(set).not.toHaveProperty("api_key");
  expect((await keys("set", "ci", "--budget", "none", "--data", data)).code).toBe(0);
  expect((await keys("list", "--data", data)).stdout).toMatch(/\t-\t-\t-\t\$2\.5\/90m\n$/);
  const nothing = { code: 0, stdout: "", stderr: "no conversation ended in this time\n" };
  expect(await keys("spent", "--data", data)).toEqual(expect.objectContaining(nothing));
  expect((await keys("spent", "--data", data, "--json")).stdout).toBe("[]\n");
  expect((await keys("revoke", "ci", "--data", data)).code).toBe(0);
  for (const name of ["ci", "nobody"]) {
    for (const change of [
      ["set", name, "--at-once", "3"],
      ["revoke", name],
    ]) {
      const { code, stderr } = await keys(...change, "--data", data);
      expect([code, stderr]).toEqual([6, expect.stringContaining(`there is no valid key named ${name}`)]);
    }
  }
});

it.each([
  ["--budget", "200"],
  ["--budget", "x/30d"],
  ["--budget", "200/x"],
  ["--budget", "0/30d"],
  ["--budget", "200/0"],
  ["--budget", "1.5/30d"],
  ["--budget", "1/4000d"],
  ["--dollars", "-1/30d"],
  ["--dollars", "Infinity/30d"],
  ["--at-once", "0"],
  ["--at-once", "1.5"],
])("%s %s is exit 2 and named, at add and at set", async (flag, text) => {
  for (const verb of ["add", "set"]) {
    const { code, stderr } = await keys(verb, "alice", `${flag}=${text}`, "--data", data);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`option '${flag} <n`)]);
    expect(stderr).toContain(text);
  }
  expect(existsSync(join(data, "keys.json"))).toBe(false);
});

it("a key that is added, changed or revoked while the service runs is a line of its log", async () => {
  await keys("add", "alice", "--data", data);
  const running = start(["serve", "--data", data, "--port", "0", "--sources", data]);
  await running.waitFor(/http:\/\/\S+/);
  await keys("add", "bob", "--data", data);
  await until(async () => /info the key bob was added/.exec(running.stderr)?.[0]);
  await keys("set", "bob", "--at-once", "3", "--data", data);
  await until(async () => /info the key bob was changed/.exec(running.stderr)?.[0]);
  await keys("revoke", "bob", "--data", data);
  await until(async () => /info the key bob was revoked/.exec(running.stderr)?.[0]);
  running.child.kill("SIGTERM");
  expect((await running.done).stderr).not.toContain("alice");
});

it("a name is used once, until its key is revoked; flags may stand before `keys` too", async () => {
  expect((await research(["serve", "--data", data, "--tier", "pro", "keys", "add", "alice"])).code).toBe(0);
  expect((await keys("list", "--data", data)).stdout).toContain("\tpro\t100\t200\t");
  expect((await keys("add", "alice", "--data", data)).code).toBe(2);
  expect((await keys("revoke", "alice", "--data", data)).code).toBe(0);
  expect((await keys("revoke", "alice", "--data", data)).code).toBe(6);
  expect((await keys("add", "alice", "--data", data)).code).toBe(0);
});

it("what is for one key is exit 2 once keys were added, and no key is made then", async () => {
  const alice = (await keys("add", "alice", "--data", data)).stdout.trim();
  const serve = ["serve", "--data", data, "--port", "0", "--sources", data];
  expect((await research([...serve, "--tier", "pro"])).code).toBe(2);
  expect((await research([...serve, "--api-key-file", join(data, "keys.json")])).code).toBe(2);
  const unused = "RESEARCH_SERVE_API_KEY is not used: keys were added to this service";
  const running = start([...serve, "--json"], { env: { RESEARCH_SERVE_API_KEY: "of-before" } });
  const ready = JSON.parse(await until(async () => /^\{.*\}$/m.exec(running.stdout)?.[0]));
  expect(ready).toEqual({ base_url: expect.any(String), pid: running.child.pid });
  const created = await post(ready.base_url, "/api/v1/conversations", alice, { prompt: "x" });
  expect(created.status).toBe(200);
  const before = await post(ready.base_url, "/api/v1/conversations", "of-before", { prompt: "x" });
  expect(before.status).toBe(401);
  const notice = { code: "KEY_NOT_USED", message: expect.stringContaining(unused) };
  expect(
    running.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([{ notice }]);
  running.child.kill("SIGTERM");
  expect((await running.done).code).toBe(0);
});

it.each([
  [["--port", "70000"], "port from 0 to 65535"],
  [["--exec", " "], "It must be a command"],
  [["--researcher", " "], "It must be a command"],
  [["--log", "text", "--json"], "--log text cannot be used with --json"],
])("serve %j is exit 2", async (args, message) => {
  const { code, stderr } = await research(["serve", ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it.each([
  ["a folder in /proc", ["serve", "--data", "/proc/x", "--port", "0"], 12],
  ["keys in /proc", ["serve", "keys", "list", "--data", "/proc/x"], 12],
  ["a device as key file", ["serve", "--api-key-file", "/dev/zero", "--port", "0"], 2],
  ["a FIFO as the file of keys", ["serve", "keys", "list", "--data", "keys"], 12],
  ["a FIFO as the kept key", ["serve", "--data", "kept", "--port", "0"], 12],
  ["a FIFO as the journal", ["serve", "--data", "journal", "--port", "0"], 12],
])("%s is told, and waited for by nothing", async (_name, args, code) => {
  const cwd = folderWith({ "keys/x": "", "kept/x": "", "journal/x": "" });
  for (const fifo of ["keys/keys.json", "kept/api-key", "journal/journal.ndjson"])
    expect(spawnSync("mkfifo", [join(cwd, fifo)]).status).toBe(0);
  const ended = await research(args, { cwd });
  expect([ended.code, ended.stdout]).toEqual([code, ""]);
});

it.each([["list"], ["revoke", "alice"]])("keys %s makes no data folder", async (...words) => {
  const data = join(folderWith(), "missing");
  const { code, stdout, stderr } = await keys(...words, "--data", data);
  expect([code, stdout, stderr]).toEqual([
    12,
    "",
    expect.stringContaining(`the data folder does not exist: ${data}`),
  ]);
  expect(existsSync(data)).toBe(false);
});

it("a FIFO as key file is waited for until Ctrl-C", async () => {
  const cwd = folderWith();
  expect(spawnSync("mkfifo", [join(cwd, "key")]).status).toBe(0);
  const running = start(["serve", "--api-key-file", "key", "--port", "0", "--verbose"], { cwd });
  // It can be opened for writing as soon as it is read.
  const writer = await until(async () => openedFifo(join(cwd, "key")));
  running.child.kill("SIGINT");
  expect((await running.done).signal).toBe("SIGINT");
  closeSync(writer);
});
