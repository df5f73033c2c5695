// What `npm ci` runs last, and what `npm install --global .` runs in a fresh clone: there, npm has not installed
// the packages that the build needs.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** @param {string[]} args */
function npm(...args) {
  // The settings of the npm around this one (`--global`, say) are in its environment.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  const shell = process.platform === "win32";
  const { status } = spawnSync("npm", args, { cwd: root, stdio: "inherit", shell, env });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(root, "node_modules/rolldown")))
  npm("ci", "--ignore-scripts", "--no-audit", "--no-fund");
npm("run", "build");
