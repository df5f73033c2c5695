import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { systemClock } from "../../core/clock.js";

/** How long a group may keep running after SIGTERM, in ms. */
export const TERM_GRACE_MS = 5_000;
/** How long to wait after SIGKILL, in ms. A process that remains is a zombie that its parent has not reaped, so a longer wait would not help. */
const KILL_GRACE_MS = 1_000;
const LOOK_MS = 20;

/** Starts a shell command as the leader of a new process group, so that all its processes can be ended together. */
export function spawnGroup(command: string, env: NodeJS.ProcessEnv, stdio: StdioOptions): ChildProcess {
  return spawn(command, {
    shell: true,
    detached: process.platform !== "win32",
    env,
    stdio,
    windowsHide: true,
  });
}

const ending = new WeakMap<ChildProcess, Promise<void>>();

/** Ends the child and its group; sends SIGKILL after 5 s. A group that is already ending gets no second signal. */
export function endGroup(child: ChildProcess, signal: "SIGTERM" | "SIGHUP" = "SIGTERM"): Promise<void> {
  const end = ending.get(child) ?? signalThenKill(child, signal);
  ending.set(child, end);
  return end;
}

async function signalThenKill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  signalGroup(child, signal);
  if (await waitUntilGroupGone(child, TERM_GRACE_MS)) return;
  signalGroup(child, "SIGKILL");
  await waitUntilGroupGone(child, KILL_GRACE_MS);
}

async function waitUntilGroupGone(child: ChildProcess, limitMs: number): Promise<boolean> {
  const end = systemClock.monotonic() + limitMs;
  while (signalGroup(child, 0)) {
    if (systemClock.monotonic() > end) return false;
    await systemClock.sleep(LOOK_MS);
  }
  return true;
}

/** Sends a signal to the child's group. Returns false if the group does not exist. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  if (process.platform === "win32") return child.exitCode === null && child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
