import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * The path of a Node of a line ("22"), fetched from the npm registry where it is not there yet.
 * @param {string} line
 */
export function nodeOf(line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  const folder = join(root, ".node-runtimes", line);
  const binary = join(folder, "node_modules", `node-${platform}`, "bin", "node");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    spawnSync("npm", ["install", ...options, `node-${platform}@${line}`], { cwd: root, stdio: "inherit" });
  }
  return binary;
}
