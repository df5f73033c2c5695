import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import * as does from "../support/behaviours.js";
import { type FaultServer, faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY } from "../support/happy-service.js";
import { filesWith, foldersIn, homeWith, plant } from "../support/home.js";
import { inProcess, research } from "../support/in-process.js";
import { type RunResult, start } from "../support/run.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors } from "../support/world.js";
import { ID } from "./plays.js";

vi.setConfig({ maxConcurrency: 6 });

const isSettings = (path: string) => path.endsWith("/config/config.json");

/** A person's machine with one request in its history, and the key in the environment. */
function machine(url: string, key = KEY) {
  const { home, env } = homeWith({ RESEARCH_BASE_URL: url, RESEARCH_API_KEY: key });
  plant(home, { requestId: ID, origin: new URL(url).origin, createdAt: Date.now() - 60_000 });
  return { home, env };
}

function expectNoKey(run: RunResult, home: string, key = KEY): void {
  expect(run.stdout).not.toContain(key);
  expect(run.stderr).not.toContain(key);
  expect(filesWith(home, key, isSettings)).toEqual([]);
}

const ASKING: string[][] = [
  ["create", "x"],
  ["run", "x", "--timeout", "1m"],
  ["rerun", ID],
  ["status", ID],
  ["watch", ID, "--timeout", "1m"],
  ["stop", "-y", ID],
  ["output", ID],
  ["list", "--refresh"],
  ["show", ID],
  ["quota"],
  ["login", "--with-key"],
];
/** What asks no service anything. */
const LOCAL: string[][] = [
  ["create", "x", "--dry-run"],
  ["config", "list"],
  ["config", "get", "api-key"],
  ["config", "set", "api-key"],
  ["logout"],
  ["no-such-command"],
];

const ECHO = `you sent Authorization: Bearer ${KEY}`;
/** Services and gateways that quote the key back. */
const ECHOES: Record<string, does.Behaviour> = {
  "a refusal": does.refuse(400, KEY, {}, ECHO),
  "a 401": does.refuse(401, "INVALID_API_KEY", {}, ECHO),
  "a packed refusal": does.answer({
    ...{ status: 409, headers: { "content-encoding": "gzip" } },
    body: gzipSync(does.errorEnvelope("NO", ECHO)),
  }),
  "a debug page": does.answer({ status: 500, headers: { "content-type": "text/html" }, body: ECHO }),
  "a redirect": does.redirect(302, `http://127.0.0.2:9/?from=${KEY}`),
  "an id": does.ok({ request_id: KEY, status: KEY }),
  "a torn body": does.truncate({ body: does.envelope({ request_id: KEY, status: KEY, more: "x" }) }, 80),
};

for (const [what, behaviour] of Object.entries(ECHOES)) {
  const commands = what === "a refusal" ? [...ASKING, ...LOCAL] : ASKING;
  test.each(commands.map((argv) => ({ argv, name: argv.slice(0, 3).join(" ") })))(
    `$name --verbose, and ${what} quotes the key`,
    async ({ argv }) => {
      const server = await faultServer(() => behaviour);
      const { home, env } = machine(server.url);
      const options = { env, clock: new VirtualClock(), input: KEY };
      for (const flags of [["--verbose"], ["--verbose", "--json"]])
        expectNoKey(await inProcess([...argv, ...flags], options), home);
    },
  );
}

test("the key of a good service appears nowhere either, and in the settings only where it was stored", async () => {
  const service = await HappyService.start();
  const { home, env } = homeWith({ RESEARCH_BASE_URL: service.url });
  const run = async (...argv: string[]) => {
    const done = await research([...argv, "--verbose"], { home, env, input: KEY });
    expectNoKey(done, home);
    return done;
  };
  expect(await run("login", "--with-key")).toMatchObject({ code: 0 });
  expect(filesWith(home, KEY)).toEqual([join(home, "config/config.json")]);
  const created = await run("create", "x => COMPLETED");
  for (const argv of [["watch"], ["output"], ["status"], ["stop"]])
    expect((await run(...argv, created.stdout.trim())).stderr).not.toBe("");
  const list = await run("config", "list");
  expect(list.stdout).toContain(KEY.slice(-4));
  await run("logout");
  expect(filesWith(home, KEY)).toEqual([]);
});

test("no process has the key among its arguments", async () => {
  const server = await faultServer(() => does.hang());
  const { home, env } = machine(server.url);
  const keyFile = join(home, "key");
  writeFileSync(keyFile, KEY);
  const runs = [
    start(["create", "x"], { home, env }),
    start(["status", ID], {
      home,
      env: { ...env, RESEARCH_API_KEY: undefined, RESEARCH_API_KEY_FILE: keyFile },
    }),
    start(["login", "--with-key"], { home, env, input: KEY }),
  ];
  while (server.count() < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const lines = all.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  });
  expect(lines.filter((line) => line.includes("bin/research.js")).length).toBeGreaterThanOrEqual(3);
  expect(lines.filter((line) => line.includes(KEY))).toEqual([]);
  for (const run of runs) run.kill("SIGKILL");
});

test("a researcher gets neither the key of a client nor that of the service", async () => {
  const { home, env } = homeWith({ RESEARCH_API_KEY: KEY, RESEARCH_SERVE_API_KEY: `${KEY}-serve` });
  const out = join(home, "seen.txt");
  const researcher = `env > ${out}; cat /proc/$$/cmdline >> ${out}; cat >/dev/null; echo done`;
  const exec = 'research() { "$NODE" "$PROGRAM" "$@"; }; research run x';
  const run = await start(["serve", "--researcher", researcher, "--exec", exec], {
    home,
    env: { ...env, NODE: process.execPath, PROGRAM: join(import.meta.dirname, "../../bin/research.js") },
  }).done;
  expect(run).toMatchObject({ code: 0, stdout: "done\n" });
  expect(readFileSync(out, "utf8")).toContain("PATH=");
  expect(readFileSync(out, "utf8")).not.toContain(KEY);
});

const REDIRECTS = [300, 301, 302, 303, 307, 308];
const PLACES = {
  "another port": (other: FaultServer) => `${other.url}/api/v1/conversations`,
  "another host": (other: FaultServer) => `http://localhost:${other.port}/api/v1/conversations`,
  "the same port, another name": (_other: FaultServer, self: FaultServer) =>
    `http://localhost:${self.port}/x`,
  itself: (_other: FaultServer, self: FaultServer) => `${self.url}/api/v1/conversations`,
};

for (const [place, to] of Object.entries(PLACES)) {
  // Where it leads to matters to none of them, so each of them leads to one place, and one to all.
  test.concurrent.each(place === "another port" ? REDIRECTS : [307])(
    `a %d to ${place} is not followed`,
    async (status) => {
      const other = await faultServer(() => does.ok({ request_id: ID, status: "PENDING" }));
      const server: FaultServer = await faultServer(() => does.redirect(status, to(other, server)));
      const { home, env } = machine(server.url);
      for (const argv of [
        ["create", "x"],
        ["status", ID],
        ["stop", "-y", ID],
        ["output", ID],
      ]) {
        const before = server.count();
        await research(argv, { home, env });
        expect(server.count()).toBe(before + 1);
      }
      expect([other.connections, other.count()]).toEqual([0, 0]);
    },
  );
}

test("a stored key goes to the origin it was stored with, however another one comes about", async () => {
  const service = await HappyService.start();
  const other = await faultServer(() => does.ok({ request_id: ID, status: "PENDING" }));
  const home = folderWith();
  const folders = foldersIn(home);
  const env = { ...folders, RESEARCH_BASE_URL: service.url };
  expect(await research(["login", "--with-key"], { home, env, input: KEY })).toMatchObject({ code: 0 });
  const id = (await research(["create", "x"], { home, env: folders })).stdout.trim();
  expect(id).not.toBe("");
  const localhost = service.url.replace("127.0.0.1", "localhost");
  const https = service.url.replace("http:", "https:");
  for (const url of [other.url, localhost, https]) {
    for (const command of [
      ["create", "x"],
      ["status", id],
      ["list", "--refresh"],
    ]) {
      const byFlag = await research([...command, "--base-url", url, "--json"], { home, env: folders });
      const byEnvironment = await research([...command, "--json"], {
        home,
        env: { ...folders, RESEARCH_BASE_URL: url },
      });
      for (const run of [byFlag, byEnvironment]) {
        expect(run).toMatchObject({ code: 4, stdout: "" });
        expect(jsonErrors(run.stderr)).toMatchObject([{ code: "NOT_AUTHENTICATED" }]);
        expect(run.stderr).toContain(new URL(service.url).origin);
      }
    }
  }
  await research(["config", "set", "base-url", other.url], { home, env: folders });
  expect(await research(["status", id], { home, env: folders })).toMatchObject({ code: 4 });
  expect(other.connections).toBe(0);
  // The same origin under another path is the same place.
  const prefixed = await research(["status", id, "--base-url", `${service.url}/v`], { home, env: folders });
  expect(prefixed).toMatchObject({ code: 0 });
});

test.each(["two words", "line\r\nX-Evil: 1", "nul\\u0000", "schlüssel", "\u{1f511}", " "])(
  "a key that cannot be one (%j) is neither sent nor shown",
  async (key) => {
    const server = await faultServer(() => does.ok({ status: "PENDING" }));
    const { home, env } = machine(server.url, key === "nul\\u0000" ? "nul\u007f" : key);
    const run = await research(["status", ID, "--verbose"], { home, env });
    expect(run).toMatchObject({ code: 4, stdout: "" });
    expect(server.connections).toBe(0);
    if (key.trim()) expect(run.stderr).not.toContain(key);
  },
);

test("nothing in the current folder leads the key anywhere", async () => {
  const service = await HappyService.start();
  const trap = await faultServer(() => does.ok({ request_id: ID, status: "PENDING" }));
  const home = folderWith();
  const cwd = folderWith();
  const settings = { baseUrl: trap.url, "base-url": trap.url, base_url: trap.url, "insecure-http": true };
  const profiles = { profile: "default", profiles: { default: { ...settings, "api-key": "sk-trap-trap" } } };
  const text = JSON.stringify({ ...settings, ...profiles, research: settings, proxy: trap.url });
  const files = [
    ...["package.json", "config.json", ".researchrc", ".researchrc.json", "research.config.json"],
    ...[".config/research/config.json", ".research/config.json", "research/config.json", "tsconfig.json"],
  ];
  for (const name of files) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const lines = ["RESEARCH_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(
    (name) => `${name}=${trap.url}`,
  );
  for (const name of [".env", ".env.local", ".npmrc", ".curlrc"])
    writeFileSync(join(cwd, name), lines.join("\n"));
  for (const name of [
    "research.js",
    "index.js",
    "node_modules/undici/index.js",
    "node_modules/conf/index.js",
  ]) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), "throw new Error('loaded from the current folder')");
  }
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: service.url };
  const login = start(["login", "--with-key"], { home, cwd, env, input: KEY });
  expect(await login.done).toMatchObject({ code: 0 });
  const created = await start(["create", "x"], { home, cwd, env: foldersIn(home) }).done;
  expect(created).toMatchObject({ code: 0, stderr: "" });
  expect(service.server.count("create")).toBe(1);
  const bare = await start(["create", "x"], { home: folderWith(), cwd, env: { RESEARCH_API_KEY: KEY } }).done;
  expect(bare).toMatchObject({ code: 2 });
  expect(trap.connections).toBe(0);
});

test("the local service lets other machines in only with a key that was given to it", async () => {
  const home = folderWith();
  const open = await research(["serve", "--host", "0.0.0.0", "--port", "0"], { home });
  expect(open).toMatchObject({ code: 2, stdout: "" });
  const local = start(["serve", "--port", "0"], { home });
  expect((await local.waitFor(/^(\S+)\n/))[1]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  local.signal("SIGTERM");
  expect(await local.done).toMatchObject({ code: 0 });
});
