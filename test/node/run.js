// Runs the end-to-end tests with the built program executed by other lines of Node, fetched from the npm
// registry. The tests themselves stay on the Node that runs this. `npm run test:node -- 22 24` picks lines.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nodeOf } from "./runtimes.js";

const root = join(import.meta.dirname, "../..");
const lines = process.argv.length > 2 ? process.argv.slice(2) : ["20", "22", "24", "26"];

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
