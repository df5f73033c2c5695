import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

/**
 * @typedef {object} Command
 * @property {string} [node] the runtime; the one that runs the bench where absent
 * @property {string[]} args
 * @property {Record<string, string>} [env] added to PATH and a home of its own
 */

/**
 * Writes the largest resident size (KiB) that the process had to the file named in the environment. Linux counts what the
 * parent had at the fork in `maxRSS` (getrusage(2) keeps it over execve), so there the kernel's mark of this program is read.
 */
export const NOTE_MEMORY = `data:text/javascript,${encodeURIComponent(
  `import fs from "node:fs";
  const ofProgram = () => /VmHWM:\\s+(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1];
  const peak = () => (process.platform === "linux" ? ofProgram() : process.resourceUsage().maxRSS);
  process.on("exit", () => fs.writeFileSync(process.env.BENCH_MEMORY, String(peak())));`,
)}`;

/**
 * Runs a command to its end. Throws if it does not end with 0: a failed run measures nothing.
 * @param {Command} command
 * @returns {Promise<number>} wall milliseconds of the whole process
 */
export async function wallTime({ node = process.execPath, args, env = {} }) {
  const home = mkdtempSync(join(tmpdir(), "research-bench-"));
  try {
    const start = performance.now();
    const child = spawn(node, args, {
      env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    child.stdout.on("data", () => {});
    child.stderr.on("data", (text) => {
      said += text;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${said.slice(0, 400)}`);
    return performance.now() - start;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * The largest resident size of a command, in MiB, taken in a run of its own so that no timed one pays for it.
 * @param {Command} command
 */
export async function peakMemory(command) {
  const folder = mkdtempSync(join(tmpdir(), "research-bench-"));
  const file = join(folder, "memory");
  try {
    await wallTime({
      ...command,
      args: ["--import", NOTE_MEMORY, ...command.args],
      env: { ...command.env, BENCH_MEMORY: file },
    });
    return Number(readFileSync(file, "utf8")) / 1_024;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Measures two commands in turn, A B A B …, after one run of each that is not counted.
 * @param {(command: Command) => Promise<number>} measure
 * @param {Command} a
 * @param {Command} b
 * @param {number} pairs
 */
export async function compare(measure, a, b, pairs) {
  await measure(a);
  await measure(b);
  /** @type {{ a: number, b: number }[]} */
  const taken = [];
  for (let i = 0; i < pairs; i++) taken.push({ a: await measure(a), b: await measure(b) });
  return {
    a: summary(taken.map((pair) => pair.a)),
    b: summary(taken.map((pair) => pair.b)),
    ratio: summary(taken.map((pair) => pair.a / pair.b)),
  };
}

/** @param {number[]} values */
export function summary(values) {
  const sorted = [...values].sort((x, y) => x - y);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { min: at(0), median: at(0.5), max: at(1) };
}
