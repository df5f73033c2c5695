// Makes the program runnable: a version from the npm registry, or the sources beside this file. Its path is the
// output `program`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { writeOutputs } from "./outputs.js";

const { env } = process;
const version = (env.INPUT_VERSION ?? "").trim();
const root = join(import.meta.dirname, "..");

if (version !== "" && !/^[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(version)) {
  process.stderr.write(`error: invalid version: ${JSON.stringify(version)}\n`);
  process.exitCode = 2;
} else if (version === "") {
  const program = join(root, "bin", "research.js");
  const isBuilt = existsSync(join(root, "dist", "main.js"));
  if (isBuilt || npm(["ci", "--no-fund", "--no-audit"], root)) done(program);
} else {
  const prefix = join(env.RUNNER_TEMP ?? "", "research-cli");
  const isInstalled = npm([
    "install",
    "--no-fund",
    "--no-audit",
    "--prefix",
    prefix,
    `research-cli@${version}`,
  ]);
  if (isInstalled) done(join(prefix, "node_modules", "research-cli", "bin", "research.js"));
}

/**
 * Runs npm; false if it failed, with its exit code as ours.
 * @param {string[]} args
 * @param {string} [cwd]
 */
function npm(args, cwd) {
  // On Windows npm is a batch file, which only a shell can start; no argument holds anything a shell would read.
  const { status } = spawnSync("npm", args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  process.exitCode = status ?? 1;
  return status === 0;
}

/** @param {string} program */
function done(program) {
  if (env.GITHUB_OUTPUT) writeOutputs(env.GITHUB_OUTPUT, { program });
}
