// Makes the program runnable from one tarball: that of a release, checked against the SHA-256 of the input `sha256`, or
// one packed from the sources beside this file. `install.js key` writes the output `key`, under which the runner caches
// the folder of the tarball; `install.js` writes the output `program`.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { InputError, readInputs } from "./arguments.js";
import { writeOutputs } from "./outputs.js";

/** How long a download may take, in milliseconds. */
const DOWNLOAD_TIMEOUT = 120_000;
/** What the packed program is made of. */
const SOURCES = ["package.json", "package-lock.json", "openapi.yaml", "bin", "build", "skills", "src"];

const { env } = process;
const root = join(import.meta.dirname, "..");
const folder = join(env.RUNNER_TEMP || tmpdir(), "research-cli");
const tarball = join(folder, "research-cli.tgz");

try {
  const { version = "", sha256 = "" } = readInputs(env);
  if (version !== "" && !/^[0-9][A-Za-z0-9.+-]*$/.test(version))
    throw new InputError(`invalid version: ${JSON.stringify(version)}`);
  if (version !== "" && !/^[0-9a-f]{64}$/.test(sha256))
    throw new InputError(
      "version needs sha256: the SHA-256 of the release's tarball, in SHA256SUMS beside it",
    );
  if (process.argv[2] === "key") writeOutput("key", sha256 || hashOf(sourceFiles()));
  else {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(tarball)) version === "" ? pack() : await download(version);
    // A cached tarball is checked, too.
    if (version !== "" && hashOf([tarball]) !== sha256)
      throw new InputError(`the tarball of version ${version} has another SHA-256 than the input sha256`);
    // Relative names: the tar of Git for Windows takes what stands before a colon for a host.
    command("tar", ["-xzf", "research-cli.tgz"], folder);
    writeOutput("program", join(folder, "package", "bin", "research.js"));
  }
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 2;
}

function pack() {
  command("npm", ["ci", "--ignore-scripts", "--no-fund", "--no-audit"], root);
  // `npm pack` builds, by the script `prepare`.
  command("npm", ["pack"], root);
  const [packed = ""] = readdirSync(root).filter((name) => /^research-cli-.*\.tgz$/.test(name));
  copyFileSync(join(root, packed), tarball);
}

/** @param {string} version */
async function download(version) {
  const release = `${env.GITHUB_SERVER_URL}/${env.ACTION_REPOSITORY}/releases/download/v${version}`;
  const url = `${release}/research-cli-${version}.tgz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT) });
  if (!response.ok)
    throw new InputError(`no release for version ${version}: ${url} answered ${response.status}`);
  writeFileSync(tarball, Buffer.from(await response.arrayBuffer()));
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

/** @param {readonly string[]} paths of files; the SHA-256 of all of them, in hexadecimal digits */
function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(readFileSync(path));
  return hash.digest("hex");
}

/**
 * Runs a command, or ends with its exit code if it failed.
 * @param {string} name
 * @param {string[]} args
 * @param {string} cwd
 */
function command(name, args, cwd) {
  // On Windows npm is a batch file, which only a shell can start; no argument holds anything a shell would read.
  const { status } = spawnSync(name, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * @param {string} name
 * @param {string} value
 */
function writeOutput(name, value) {
  if (env.GITHUB_OUTPUT) writeOutputs(env.GITHUB_OUTPUT, { [name]: value });
}
