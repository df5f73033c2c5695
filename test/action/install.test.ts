import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { folderOnDisk, folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { listen } from "../support/listen.js";
import { Job } from "./runner.js";

const root = join(import.meta.dirname, "../..");
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);

/**
 * A checkout that is installed and built in seconds: it needs no package, and its build copies the one that is there. The
 * soak takes a fresh clone.
 */
function smallCheckout(): string {
  const checkout = folderOnDisk();
  for (const name of ["action", "bin", "src"])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  cpSync(join(root, "dist"), join(checkout, "build/dist"), { recursive: true });
  mkdirSync(join(checkout, "skills"));
  const { name, version, type, files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const scripts = { build: `node -e "fs.cpSync('build/dist', 'dist', { recursive: true })"` };
  const lock = { name, version, lockfileVersion: 3, packages: { "": { name, version } } };
  const texts = { "package.json": { name, version, type, files, scripts }, "package-lock.json": lock };
  for (const [file, value] of Object.entries({ ...texts, "tsconfig.json": {}, "openapi.yaml": {} }))
    writeFileSync(join(checkout, file), JSON.stringify(value));
  return checkout;
}

/** A fresh clone of this repository, with what is not committed yet. */
function clone(): string {
  const checkout = join(folderOnDisk(), "checkout");
  git("clone", "--quiet", root, checkout);
  for (const name of git("ls-files", "-z", "--deleted")) rmSync(join(checkout, name));
  for (const name of git("ls-files", "-z", "--modified", "--others", "--exclude-standard"))
    if (existsSync(join(root, name))) cpSync(join(root, name), join(checkout, name));
  return checkout;
}

/** Where npm gets its packages on this machine. */
const NPM = {
  npm_config_cache: process.env.npm_config_cache ?? join(homedir(), ".npm"),
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
  npm_config_prefer_offline: "true",
  ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
};

test("a checkout is built, packed, kept and run, each step with what the one before has left", async () => {
  requireBuild();
  const checkout = process.env.EVERY_CELL ? clone() : smallCheckout();
  const service = await HappyService.start();
  const action = join(checkout, "action");
  const env = { ...NPM, ...service.env };
  const job = new Job(env, folderOnDisk(), action);
  const keyOf = async () => (await job.step("install", {}, undefined, ["key"])).outputs.key ?? "";
  const key = await keyOf();
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  const installed = await job.step("install", {});
  expect(installed, installed.log).toMatchObject({ code: 0 });
  // Another runner, for which the cache brings what action.yml names.
  const later = new Job(env, folderOnDisk(), action);
  const kept = `research-cli/${key}/research-cli.tgz`;
  cpSync(join(job.temp, kept), join(later.temp, kept));
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const cached = await later.step("install", {});
  expect(cached).toMatchObject({ code: 0, log: `${version}\n` });
  writeFileSync(join(checkout, "src/new.ts"), "");
  expect(await keyOf()).not.toBe(key);
  // The scripts of the steps are all that is left of the clone.
  for (const name of readdirSync(checkout))
    if (name !== "action" && name !== "package.json") rmSync(join(checkout, name), { recursive: true });
  for (const [runner, { program = "" }] of [
    [job, installed.outputs],
    [later, cached.outputs],
  ] as const) {
    expect(program.startsWith(runner.temp)).toBe(true);
    const run = await runner.step("run", {
      ...{ RESEARCH_PROGRAM: program, INPUT_MODE: "run", INPUT_PROMPT: "why?", INPUT_OUTPUT: "" },
    });
    const outputs = { status: "COMPLETED", "exit-code": "0", file: "research-report.md" };
    expect(run, run.log).toMatchObject({ code: 0, summary: "An answer to: why?\n", outputs });
    expect(runner.read("research-report.md")).toBe("An answer to: why?");
  }
  await service.server.close();
}, 900_000);

test("what is not built is not packed", () => {
  const manifest = '{"scripts":{}}';
  const folder = folderWith({ "package.json": manifest });
  cpSync(join(root, "build"), join(folder, "build"), { recursive: true });
  const args = ["--input-type=commonjs", "--eval", 'import("./build/packed-manifest.js")'];
  const strip = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(strip.stderr).toContain("run `npm run build`");
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(manifest);
});

/** A release whose program is this text, at a server that counts what was asked; `step` installs it. */
async function release(program: string) {
  const folder = folderWith({ "package/bin/research.js": program });
  execFileSync("tar", ["-czf", "r.tgz", "package"], { cwd: folder });
  const tarball = readFileSync(join(folder, "r.tgz"));
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    response.end(tarball);
  });
  const port = await listen(server);
  const env = { GITHUB_SERVER_URL: `http://127.0.0.1:${port}`, ACTION_REPOSITORY: "owner/name" };
  const job = new Job(env);
  const step = (sha256: string) => job.step("install", { INPUT_VERSION: "1.2.3", INPUT_SHA256: sha256 });
  return { step, job, paths, sha256: createHash("sha256").update(tarball).digest("hex") };
}

test("a version is the tarball of that release, if its SHA-256 is the one that was given", async () => {
  const { step, paths, sha256 } = await release("console.log('released')");
  const refused = await step("0".repeat(64));
  expect(refused).toMatchObject({ code: 2, outputs: {} });
  expect(refused.log).toContain("another SHA-256");
  const good = await step(sha256);
  expect(good).toMatchObject({ code: 0, log: "released\n" });
  expect(readFileSync(good.outputs.program ?? "", "utf8")).toBe("console.log('released')");
  expect([...new Set(paths)]).toEqual(["/owner/name/releases/download/v1.2.3/research-cli-1.2.3.tgz"]);
});

test("a program that does not start fails its install, and is not left for the cache", async () => {
  const { step, job, sha256 } = await release("throw new Error('no dist')");
  const failed = await step(sha256);
  expect(failed).toMatchObject({ code: 1, outputs: {} });
  expect(failed.log).toContain("research.js --version ended with 1");
  expect(existsSync(join(job.temp, "research-cli", sha256, "research-cli.tgz"))).toBe(false);
});

test("steps of one job with two versions get a program each", async () => {
  const [one, two] = [await release("console.log('one')"), await release("console.log('two')")];
  mkdirSync(dirname(join(two.job.temp, "x")), { recursive: true });
  const first = await one.step(one.sha256);
  cpSync(join(one.job.temp, "research-cli"), join(two.job.temp, "research-cli"), { recursive: true });
  const second = await two.step(two.sha256);
  expect([first.log, second.log]).toEqual(["one\n", "two\n"]);
});

test("a version without a SHA-256 is refused", async () => {
  const { code, log } = await new Job({}).step("install", { INPUT_VERSION: "1.2.3" });
  expect([code, log]).toEqual([2, expect.stringContaining("version needs sha256")]);
});

test.each(["1.0.0 --registry=http://evil", "$(touch X)", "--prefix=/"])(
  "the version %j is refused",
  async (version) => {
    const { code, log, outputs } = await new Job({}).step("install", { INPUT_VERSION: version });
    expect([code, outputs]).toEqual([2, {}]);
    expect(log).toContain("invalid version");
  },
);
