import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer as createTls } from "node:https";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { refuse } from "../../../support/behaviours.js";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../../support/certificate.js";
import { folderWith } from "../../../support/folder.js";
import { HappyService, KEY } from "../../../support/happy-service.js";
import { inProcess, research } from "../../../support/in-process.js";
import { listen } from "../../../support/listen.js";
import { environment, type RunResult } from "../../../support/run.js";
import { smallDisk } from "../../../support/small-disk.js";

interface Check {
  id: string;
  status: string;
  message: string;
  fix: string | null;
  exit_code: number;
}

const IDS =
  "node version settings history unknown-outcomes base-url key proxy dns tls clock auth quota completion";

/** A machine whose settings file and environment are given; `run` is `doctor` on it. */
function machine(settings: unknown, env: Record<string, string> = {}, mode = 0o600) {
  const home = folderWith();
  const path = join(home, ".config/research/config.json");
  if (settings !== undefined) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, typeof settings === "string" ? settings : JSON.stringify(settings), { mode });
    chmodSync(path, mode);
  }
  const run = (...args: string[]): Promise<RunResult> =>
    research(["doctor", ...args], { home, env: { SHELL: "/bin/sh", ...env } });
  return { home, path, run };
}

const profile = (url: string, origin = new URL(url).origin) => ({
  profiles: { default: { "base-url": url, "api-key": KEY, "api-key-origin": origin } },
});

async function checks(run: Promise<RunResult>): Promise<{ code: number | null; of: (id: string) => Check }> {
  const { code, stdout, stderr } = await run;
  expect(stderr).toBe("");
  const { checks: all, ok } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(ok).toBe(all.every(({ status }) => status !== "fail"));
  expect(code).toBe(all.find(({ status }) => status === "fail")?.exit_code ?? 0);
  const of = (id: string) => {
    const result = all.find((check) => check.id === id);
    if (!result) throw new Error(`${id} is missing in ${stdout}`);
    return result;
  };
  return { code, of };
}

let service: HappyService;
beforeEach(async () => {
  service = await HappyService.start();
});

test("a sound machine: every check in order, nothing fails, nothing is changed", async () => {
  const { home, run } = machine(profile(service.url));
  const before = readdirSync(home, { recursive: true });
  const [json, lines] = [await run("--json"), await run()];
  const { checks: all } = JSON.parse(json.stdout) as { checks: Check[] };
  expect(all.map(({ id }) => id).join(" ")).toBe(IDS);
  expect(all.filter(({ status }) => status === "fail" || status === "warn")).toEqual([]);
  expect(all.map((check) => Object.keys(check).join())).toEqual(
    all.map(() => "id,status,message,fix,exit_code"),
  );
  expect([json.code, lines.code]).toEqual([0, 0]);
  expect(lines.stdout.split("\n")).toHaveLength(IDS.split(" ").length + 1);
  expect(lines.stdout + json.stdout).not.toContain(KEY);
  expect(readdirSync(home, { recursive: true })).toEqual(before);
});

describe("a machine gone wrong:", () => {
  test("no settings", async () => {
    const { code, of } = await checks(machine(undefined).run("--json"));
    expect(code).toBe(2);
    expect(of("base-url")).toMatchObject({ status: "fail", exit_code: 2 });
    expect(of("base-url").fix).toContain("research login");
    for (const id of ["key", "proxy", "dns", "tls", "clock", "auth", "quota"])
      expect(of(id)).toMatchObject({ status: "skipped", exit_code: 0 });
  });

  test("a key of another origin", async () => {
    const { code, of } = await checks(machine(profile(service.url, "https://other.example")).run("--json"));
    expect(code).toBe(4);
    expect(of("key").message).toContain("https://other.example");
    expect(of("key").fix).toContain("research login");
    expect(of("auth").status).toBe("skipped");
    expect(service.server.requests.every(({ headers }) => !headers.authorization?.includes(KEY))).toBe(true);
  });

  test.each([
    ["that no header can hold", { RESEARCH_API_KEY: "two words" }, 4],
    ["in a file that is missing", { RESEARCH_API_KEY_FILE: "/nowhere/key" }, 12],
  ])("a key %s", async (_, env, exit) => {
    const url = { RESEARCH_BASE_URL: service.url };
    const { code, of } = await checks(machine(undefined, { ...url, ...env }).run("--json"));
    expect([code, of("key").fix]).toEqual([exit, "research login"]);
    expect([of("tls").status, of("auth").status]).toEqual(["ok", "skipped"]);
  });

  test("settings that are a folder", async () => {
    const { path, run } = machine(undefined);
    mkdirSync(path, { recursive: true });
    const { code, of } = await checks(run("--json", "--offline"));
    expect([code, of("settings").fix]).toEqual([12, expect.stringContaining(`ls -ld ${path}`)]);
  });

  test("a relative folder", async () => {
    const { code, of } = await checks(machine(undefined, { RESEARCH_STATE_DIR: "here" }).run("--json"));
    expect([code, of("settings").fix]).toEqual([2, "research help environment"]);
  });

  test("settings that others can read: a warning, and they stay as they are", async () => {
    const { path, run } = machine(profile("http://127.0.0.1:9"), {}, 0o644);
    const { code, of } = await checks(run("--json", "--offline"));
    expect(code).toBe(0);
    expect(of("settings")).toMatchObject({ status: "warn", fix: `chmod 600 ${path}` });
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  test("settings that are not JSON: where, and what to do", async () => {
    const { code, of } = await checks(machine('{\n  "profile" "x"\n}\n').run("--json"));
    expect(code).toBe(12);
    expect(of("settings")).toMatchObject({
      ...{ status: "fail", exit_code: 12, fix: "Correct the file, or remove it to start afresh." },
      message: expect.stringMatching(/^the settings in .* are not valid JSON \(line 2, column 13: /),
    });
    expect(of("base-url").status).toBe("skipped");
  });

  const disk = smallDisk();
  test.skipIf(!disk)("a full disk (needs the right to mount)", async () => {
    disk?.fill();
    const { run } = machine(profile("http://127.0.0.1:9"), { RESEARCH_STATE_DIR: disk?.path ?? "" });
    const { code, of } = await checks(run("--json", "--offline"));
    expect(code).toBe(12);
    expect(of("history").message).toContain("the disk is full");
    expect(of("history").fix).toContain("df -h");
  });

  test("a wrong proxy", async () => {
    const wrong = machine(profile("https://research.example"), { HTTPS_PROXY: "socks5://127.0.0.1:9" });
    const first = await checks(wrong.run("--json"));
    expect(first.code).toBe(2);
    expect(first.of("proxy").fix).toContain("HTTPS_PROXY");
    const dead = machine(profile("https://research.example"), { HTTPS_PROXY: "http://127.0.0.1:9" });
    const second = await checks(dead.run("--json"));
    expect(second.code).toBe(9);
    expect(second.of("tls").message).toContain("http://127.0.0.1:9");
    expect(second.of("tls").fix).toContain("HTTPS_PROXY");
  });

  test("an unknown host name", async () => {
    const { code, of } = await checks(machine(profile("https://no-such-host.invalid")).run("--json"));
    expect(code).toBe(9);
    expect(of("dns").message).toContain("no-such-host.invalid");
    expect(of("dns").fix).toContain("research config set base-url");
    expect(of("tls").status).toBe("skipped");
  });

  test("an untrusted certificate", async () => {
    const server = createTls({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => response.end());
    const port = await listen(server);
    const { code, of } = await checks(machine(profile(`https://127.0.0.1:${port}`)).run("--json"));
    expect(code).toBe(9);
    expect(of("tls").fix).toContain("NODE_EXTRA_CA_CERTS");
    expect(of("auth").status).toBe("skipped");
  });

  test("a clock an hour off: a warning", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const service = await HappyService.start({
      fault: () => refuse(404, "REQUEST_NOT_FOUND", { Date: date }),
    });
    const { code, of } = await checks(machine(profile(service.url)).run("--json"));
    await service.server.close();
    expect(code).toBe(0);
    expect(of("clock").status).toBe("warn");
    expect(of("clock").message).toMatch(/(59m 5\ds|1h 00m) behind/);
    expect(of("clock").fix).not.toBeNull();
  });

  test("a revoked key", async () => {
    const { code, of } = await checks(
      machine(profile(service.url), { RESEARCH_API_KEY: "sk-revoked" }).run("--json"),
    );
    expect(code).toBe(4);
    expect(of("auth")).toMatchObject({ status: "fail", exit_code: 4, fix: "research login" });
  });

  test("an unknown outcome: a warning with the command that settles it", async () => {
    const { home, run } = machine(profile(service.url));
    const open = join(home, ".local/state/research/open");
    mkdirSync(open, { recursive: true, mode: 0o700 });
    chmodSync(dirname(open), 0o700);
    const intent = { kind: "intent", local_id: "local-0123456789ab", sent_at: new Date().toISOString() };
    writeFileSync(
      join(open, "local-0123456789ab.json"),
      `${JSON.stringify({ ...intent, origin: service.url, prompt: "a secret question" })}\n\n`,
    );
    const { code, of } = await checks(run("--json"));
    expect(code).toBe(0);
    expect(of("unknown-outcomes").status).toBe("warn");
    expect(of("unknown-outcomes").fix).toContain("research resolve local-0123456789ab");
    expect(existsSync(join(open, "local-0123456789ab.json"))).toBe(true);
    const { stdout } = await run();
    for (const secret of ["a secret question", KEY]) expect(stdout).not.toContain(secret);
  });
});

test("--offline asks no network", async () => {
  const { code, of } = await checks(machine(profile(service.url)).run("--json", "--offline"));
  expect(code).toBe(0);
  for (const id of ["dns", "tls", "clock", "auth"]) expect(of(id).status).toBe("skipped");
  expect(service.server.requests).toEqual([]);
});

test("on Windows: a warning that it is not tested there, with WSL as the way", async () => {
  const env = environment(folderWith(), { SHELL: "/bin/sh" });
  const { of } = await checks(inProcess(["doctor", "--json", "--offline"], { env, platform: "win32" }));
  expect(of("version")).toMatchObject({
    status: "warn",
    message: expect.stringContaining("not tested on Windows"),
    fix: expect.stringContaining("WSL"),
  });
});

test("an error is not told twice: no error line beside the checks", async () => {
  const { code, stderr, stdout } = await machine(undefined).run();
  expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
  expect(stdout).toMatch(/^fail +base-url .*research login/m);
});
