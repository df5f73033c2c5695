// Runs the end-to-end tests with the built program executed by other lines of Node, fetched from the npm
// registry. The tests themselves stay on the Node that runs this. `npm run test:node -- 22 24` picks lines.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const lines = process.argv.length > 2 ? process.argv.slice(2) : ["20", "22", "24", "26"];

/**
 * The path of a Node of that line, fetched where it is not there yet.
 * @param {string} line
 */
function nodeOf(line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  const folder = join(root, ".node-runtimes", line);
  const binary = join(folder, "node_modules", `node-${platform}`, "bin", "node");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    run("npm", ["install", ...options, `node-${platform}@${line}`]);
  }
  return binary;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function run(command, args, env = {}) {
  return spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } }).status;
}

const vitest = join(root, "node_modules/vitest/vitest.mjs");
/** @type {string[]} */
const failed = [];
for (const line of lines) {
  const node = nodeOf(line);
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim();
  process.stdout.write(`\nThe program on Node ${version ?? `${line}: not to be had`}\n`);
  const status = version && run(process.execPath, [vitest, "run", "test/e2e"], { RESEARCH_TEST_NODE: node });
  if (status !== 0) failed.push(line);
}
process.stdout.write(failed.length ? `\nFailed on Node ${failed.join(", ")}\n` : "\nPassed on every Node\n");
process.exitCode = failed.length ? 1 : 0;
