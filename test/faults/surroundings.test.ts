import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY } from "../support/happy-service.js";
import { historyLine, homeWith, listed, plant } from "../support/home.js";
import { research } from "../support/in-process.js";
import { start } from "../support/run.js";
import { world, worldOf } from "../support/world.js";
import { goodAnswer, ID, OTHER_ID } from "./plays.js";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("umask 000: what holds a key or a prompt is its owner's alone", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  const env = { RESEARCH_BASE_URL: service.url };
  const run = async (...argv: string[]) => {
    const done = await research(argv, { home, cwd: home, env, input: KEY });
    expect(done, argv.join(" ")).toMatchObject({ code: 0 });
  };
  const before = process.umask(0);
  try {
    await run("login", "--with-key");
    await run("config", "set", "tier", "pro");
    await run("create", "x");
    await run("create", "y");
    await run("watch", "@last", "--interval", "100ms");
    await run("serve", "--port", "0", "--data", "data", "--exec", "true");
  } finally {
    process.umask(before);
  }
  const ours = [".config", ".local", "data"].flatMap((name) =>
    readdirSync(join(home, name), { recursive: true, withFileTypes: true }),
  );
  expect(ours.length).toBeGreaterThan(5);
  for (const entry of ours) {
    const path = join(entry.parentPath, entry.name);
    expect([path, modeOf(path)]).toEqual([path, entry.isDirectory() ? "700" : "600"]);
  }
  expect(modeOf(join(home, ".config"))).toBe("700");
});

test.concurrent("settings found 0644 are made private, which is said once", async () => {
  const service = await HappyService.start();
  const { home, env } = homeWith({ RESEARCH_BASE_URL: service.url });
  await research(["login", "--with-key"], { home, env, input: KEY });
  const path = join(env.RESEARCH_CONFIG_DIR, "config.json");
  chmodSync(path, 0o644);
  const first = await research(["list"], { home, env });
  expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining("0600") });
  expect(modeOf(path)).toBe("600");
  expect((await research(["list"], { home, env })).stderr).not.toContain("0600");
});

test.concurrent("a draft of the settings that a crash left behind goes with the next change", async () => {
  const { home, env } = homeWith();
  mkdirSync(join(env.RESEARCH_CONFIG_DIR, "config.json.draft-abc"), { recursive: true });
  writeFileSync(join(env.RESEARCH_CONFIG_DIR, "config.json.draft-abc/config.json"), KEY);
  expect(await research(["config", "set", "tier", "pro"], { home, env })).toMatchObject({ code: 0 });
  expect(readdirSync(env.RESEARCH_CONFIG_DIR)).toEqual(["config.json"]);
});

/** Homes in which nothing can be kept. Nobody but root can write to /proc, and root cannot either. */
const HOMELESS: Record<string, Record<string, string | undefined>> = {
  "no HOME": { HOME: undefined },
  "an empty HOME": { HOME: "" },
  "a relative HOME": { HOME: "here" },
  "a HOME that is not there": { HOME: "/proc/nowhere" },
  "a HOME that cannot be written": { HOME: "/proc/1" },
  "a HOME that is a file": { HOME: "/etc/passwd" },
  "relative XDG folders": { HOME: "", XDG_STATE_HOME: "state", XDG_CONFIG_HOME: "config" },
};

test.concurrent.each(Object.entries(HOMELESS))(
  "%s: asking works, creating says what it cannot keep",
  async (_, surroundings) => {
    const server = await faultServer((operation) =>
      does.answer(goodAnswer(operation === "other" ? "status" : operation)),
    );
    const cwd = folderWith();
    const env = { ...surroundings, RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
    const options = { home: cwd, cwd, env };
    expect(await research(["status", ID], options)).toMatchObject({ code: 0, stdout: `${ID}\tCOMPLETED\n` });
    expect(await research(["stop", ID], options)).toMatchObject({ code: 0, stdout: `${ID}\tSTOPPED\n` });
    expect(await research(["output", ID], options)).toMatchObject({ code: 0, stdout: "the result" });
    expect(await research(["watch", ID], options)).toMatchObject({ code: 0 });
    expect(await research(["list"], options)).toMatchObject({ code: 0, stdout: "" });
    const before = server.connections;
    const refused = await research(["create", "x"], options);
    expect(refused).toMatchObject({ code: 12, stdout: "" });
    expect(refused.stderr).toMatch(/not sent.*RESEARCH_NO_HISTORY=1/s);
    expect(server.connections).toBe(before);
    const unkept = await research(["create", "x"], { ...options, env: { ...env, RESEARCH_NO_HISTORY: "1" } });
    expect(unkept).toMatchObject({ code: 0, stdout: `${ID}\n` });
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test.concurrent("relative XDG folders are ignored where there is a HOME", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  const env = { ...service.env, XDG_STATE_HOME: "state", XDG_CONFIG_HOME: "./config" };
  expect(await research(["create", "x"], { home, cwd: home, env })).toMatchObject({ code: 0 });
  expect(readdirSync(home)).toEqual([".local"]);
});

test.concurrent.each(["RESEARCH_STATE_DIR", "RESEARCH_CONFIG_DIR"])(
  "a relative %s: 2, and nothing is sent",
  async (name) => {
    const service = await HappyService.start();
    const home = folderWith();
    const env = { ...service.env, [name]: "here" };
    const run = await research(["create", "x"], { home, cwd: home, env });
    expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(name) });
    expect(service.server.connections).toBe(0);
    expect(readdirSync(home)).toEqual([]);
  },
);

test.concurrent.each([
  "",
  "  \n",
  "{",
  "[]",
  "null",
  "7",
  '{"profiles":[]}',
  '{"profiles":{"default":{"api-key":7}}}',
  '{"profiles":{"default":[]}}',
  "\0\0\0",
])("settings that are %j: path and place are named, nothing is overwritten", async (text) => {
  const { service, home, env } = await world();
  const path = join(env.RESEARCH_CONFIG_DIR, "config.json");
  mkdirSync(env.RESEARCH_CONFIG_DIR);
  writeFileSync(path, text, { mode: 0o600 });
  const commands = [
    ["create", "x"],
    ["status", ID],
    ["config", "set", "tier", "pro"],
    ["logout"],
    ["config", "use", "x"],
  ];
  for (const argv of commands) {
    const run = await research(argv, { home, env });
    expect(run, argv.join(" ")).toMatchObject({
      code: 12,
      stdout: "",
      stderr: expect.stringContaining(path),
    });
    expect(readFileSync(path, "utf8")).toBe(text);
  }
  expect(service.server.connections).toBe(0);
});

test.concurrent("torn and foreign lines are skipped and counted once, and kept; the next line is whole", async () => {
  const { service, home, env } = await world();
  const log = join(env.RESEARCH_STATE_DIR, "history.jsonl");
  plant(home, { requestId: OTHER_ID, origin: service.url, createdAt: 1e12 });
  const later = { kind: "from-a-later-version", anything: [1] };
  const foreign = `${JSON.stringify(later)}\nnot json\n[1]\n"text"\n7\nnull\n{}\n{"kind":7}\n\0\0\0\n`;
  appendFileSync(log, foreign);
  appendFileSync(log, historyLine({ requestId: ID, origin: service.url, createdAt: 1e12 }).slice(0, 90));
  const before = readFileSync(log);
  const run = await research(["create", "x"], { home, env });
  expect(run).toMatchObject({ code: 0 });
  const after = readFileSync(log);
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  const list = await research(["list"], { home, env });
  expect(list.stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([
    run.stdout.trim(),
    OTHER_ID,
    "",
  ]);
  const notes = list.stderr.split("\n").filter((line) => line.includes("skipped"));
  expect(notes).toEqual([expect.stringContaining("9 records")]);
  const json = await research(["list", "--json"], { home, env });
  expect(json.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(json.stderr)).toMatchObject({ notice: { code: "HISTORY_SKIPPED" } });
});

test.concurrent("an odd locale and time zone change no data", async () => {
  const service = await HappyService.start();
  const { home, env } = homeWith({
    ...service.env,
    TZ: "Asia/Kathmandu",
    LANG: "ar_EG.UTF-8",
    LC_ALL: "de_DE.UTF-8",
  });
  const argv = ["create", "x => PENDING COMPLETED", "-w", "--json", "--interval", "20ms"];
  const watched = await start(argv, { home, env }).done;
  expect(watched).toMatchObject({ code: 0 });
  const lines = watched.stdout.trimEnd().split("\n").slice(1);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    expect(line).toMatch(/"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","elapsed_ms":\d+/);
  const history = readFileSync(join(env.RESEARCH_STATE_DIR, "history.jsonl"), "utf8");
  for (const [, date] of history.matchAll(/"(?:at|sent_at)":"([^"]*)"/g))
    expect(date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await listed(home)).toMatchObject([{ status: "COMPLETED" }]);
});

test.concurrent("durations that no timer holds are as long as they say", async () => {
  const { home, env } = await worldOf(() => does.answer(goodAnswer("status", "COMPLETED")));
  const flags = ["--timeout", "30d", "--patience", "30d", "--interval", "30d", "--request-timeout", "30d"];
  expect(await research(["watch", ID, ...flags], { home, env })).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining("Timeout"),
  });
});
