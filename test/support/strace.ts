import { spawnSync } from "node:child_process";
import { NODE, PROGRAM, Running, type RunOptions } from "./run.js";

/** Whether this machine can make system calls fail, and lets all others pass without a stop. */
export const hasStrace = spawnSync("strace", ["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]).status === 0;

/** For the name of a test that is skipped without it. */
export const NEEDS_STRACE = "needs strace";

/** Runs `research` with system calls that fail, as in `link,linkat:error=EPERM`; `path` limits them to one file. */
export function researchWithFaults(
  faults: readonly string[],
  args: readonly string[],
  options: RunOptions,
  path?: string,
): Running {
  const calls = faults.flatMap((fault) => ["-e", `inject=${fault}`]);
  const traced = faults.map((fault) => fault.split(":")[0]).join(",");
  const only = path === undefined ? [] : ["-P", path];
  const flags = ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", `trace=${traced}`, ...calls, ...only];
  return new Running("strace", [...flags, NODE, PROGRAM, ...args], { timeoutMs: 40_000, ...options });
}
