// Makes the program runnable from one tarball: that of a release, checked against the SHA-256 of the input `sha256`, or
// one packed from the sources beside this file. `install.js key` writes the output `key`, which names the tarball and its
// entry in the runner's cache; `install.js` writes the output `program`.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { InputError, readInputs } from "./arguments.js";
import { writeOutputs } from "./outputs.js";

/** How long a download may take, in milliseconds. */
const DOWNLOAD_TIMEOUT = 120_000;
/** What the packed program is made of. */
const SOURCES = [
  ...["package.json", "package-lock.json", "tsconfig.json", "openapi.yaml"],
  ...["bin", "build", "skills", "src"],
];

/** A command that failed, and has said why. */
class CommandError extends Error {}

const { env } = process;
const root = join(import.meta.dirname, "..");

try {
  const { version = "", sha256 = "" } = readInputs(env);
  if (version !== "" && !/^[0-9][A-Za-z0-9.+-]*$/.test(version))
    throw new InputError(`invalid version: ${JSON.stringify(version)}`);
  if (version !== "" && !/^[0-9a-f]{64}$/.test(sha256))
    throw new InputError(
      "version needs sha256: the SHA-256 of the release's tarball, in SHA256SUMS beside it",
    );
  const key = version === "" ? keyOfSources() : sha256;
  const folder = join(env.RUNNER_TEMP || tmpdir(), "research-cli", key);
  if (process.argv[2] === "key") writeOutput("key", key);
  else writeOutput("program", await install(version, sha256, folder));
} catch (error) {
  if (!(error instanceof InputError || error instanceof CommandError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error instanceof InputError ? 2 : 1;
}

/**
 * The path of the program, which has been started once. One that does not start is not left for the cache.
 * @param {string} version
 * @param {string} sha256
 * @param {string} folder a folder of this tarball alone: steps of one job may ask for several
 */
async function install(version, sha256, folder) {
  const tarball = join(folder, "research-cli.tgz");
  mkdirSync(folder, { recursive: true });
  try {
    if (!existsSync(tarball)) version === "" ? pack(tarball) : await download(version, tarball);
    // A cached tarball is checked, too.
    if (version !== "" && hashOf(tarball) !== sha256)
      throw new InputError(`the tarball of version ${version} has another SHA-256 than the input sha256`);
    // Relative names: the tar of Git for Windows takes what stands before a colon for a host.
    command("tar", ["-xzf", "research-cli.tgz"], folder);
    command("node", ["package/bin/research.js", "--version"], folder);
  } catch (error) {
    rmSync(tarball, { force: true });
    throw error;
  }
  return join(folder, "package", "bin", "research.js");
}

/** @param {string} tarball */
function pack(tarball) {
  command("npm", ["ci", "--ignore-scripts", "--no-fund", "--no-audit"], root);
  // Without scripts, `npm pack` would pack what is not built yet: `prepare` is one.
  command("npm", ["run", "build"], root);
  command("npm", ["pack", "--ignore-scripts", "--pack-destination", dirname(tarball)], root);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  renameSync(join(dirname(tarball), `research-cli-${version}.tgz`), tarball);
}

/**
 * @param {string} version
 * @param {string} tarball
 */
async function download(version, tarball) {
  const release = `${env.GITHUB_SERVER_URL}/${env.ACTION_REPOSITORY}/releases/download/v${version}`;
  const url = `${release}/research-cli-${version}.tgz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT) });
  if (!response.ok)
    throw new InputError(`no release for version ${version}: ${url} answered ${response.status}`);
  writeFileSync(tarball, Buffer.from(await response.arrayBuffer()));
}

/** What changes with any name or content of the sources. */
function keyOfSources() {
  const hash = createHash("sha256");
  for (const path of sourceFiles()) hash.update(`${relative(root, path)}\0`).update(hashOf(path));
  return hash.digest("hex");
}

/** @returns {string[]} in one order on every machine */
function sourceFiles() {
  return SOURCES.flatMap((name) => {
    const path = join(root, name);
    const within = name.includes(".")
      ? undefined
      : readdirSync(path, { recursive: true, withFileTypes: true });
    const files = within
      ?.filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    return files?.sort() ?? [path];
  });
}

/** @param {string} path of a file; its SHA-256, in hexadecimal digits */
function hashOf(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/**
 * Runs a command. Throws CommandError if it failed.
 * @param {string} name
 * @param {string[]} args
 * @param {string} cwd
 */
function command(name, args, cwd) {
  // On Windows npm is a batch file, which only a shell can start; no argument holds anything a shell would read.
  const { status } = spawnSync(name, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new CommandError(`${[name, ...args].join(" ")} ended with ${status ?? "a signal"}`);
}

/**
 * @param {string} name
 * @param {string} value
 */
function writeOutput(name, value) {
  if (env.GITHUB_OUTPUT) writeOutputs(env.GITHUB_OUTPUT, { [name]: value });
}
