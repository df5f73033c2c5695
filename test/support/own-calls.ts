import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folderWith } from "./folder.js";

interface Traced {
  /** The names of the system calls, as in `fsync,fchmod`; each takes an open file. */
  calls: string;
  /** What happens to them, as in `error=EIO`; nothing by default. */
  fault?: string;
  /** Only the calls on this file or folder. */
  path?: string;
}

/**
 * Attaches strace to this process while `run` runs. Returns the calls as `fsync /tmp/file`, in their order. For what
 * the built program need not show: that a function syncs what it writes, and what it does if that fails.
 */
export async function ownCalls({ calls, fault, path }: Traced, run: () => unknown): Promise<string[]> {
  const out = join(folderWith(), "calls");
  const inject = fault === undefined ? [] : ["-e", `inject=${calls}:${fault}`];
  const only = path === undefined ? [] : ["-P", path];
  const pid = String(process.pid);
  const strace = spawn(
    "strace",
    ["-f", "-y", "-p", pid, "-o", out, "-e", `trace=${calls}`, ...inject, ...only],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  await attached(strace);
  try {
    await run();
  } finally {
    const ended = once(strace, "close");
    strace.kill("SIGINT");
    await ended;
  }
  return [...readFileSync(out, "utf8").matchAll(/(\w+)\(\d+<([^>]*)>/g)].map(
    ([, name, file]) => `${name} ${file}`,
  );
}

/** Whether this process may be traced. */
export const isTraceable = await ownCalls({ calls: "fsync" }, () => {}).then(
  () => true,
  () => false,
);

/** For the name of a test that is skipped without it. */
export const NEEDS_TRACING = "needs strace that may attach";

function attached(strace: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    strace.stderr?.on("data", (chunk) => {
      output += chunk;
      if (output.includes(`Process ${process.pid} attached`)) resolve();
    });
    strace.on("error", reject);
    strace.on("close", () => reject(new Error(`strace: ${output}`)));
  });
}
