import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A process that runs until it is stopped.
 * @param {string[]} args for Node
 * @param {Record<string, string>} [env]
 */
export function background(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  return {
    pid: child.pid ?? 0,
    /** Its first line, once it is there: the URL of a server. */
    async url() {
      while (!said.includes("\n")) {
        if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
        await sleep(10);
      }
      return said.split("\n")[0] ?? "";
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * CPU seconds of a process and its children, those that have ended included. Linux only.
 * @param {number} pid
 */
export function treeSeconds(pid) {
  let ticks = 0;
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const own = (fields[11] ?? 0) + (fields[12] ?? 0);
      if (Number(name) === pid) ticks += own + (fields[13] ?? 0) + (fields[14] ?? 0);
      else if (fields[1] === pid) ticks += own;
    } catch {}
  }
  return ticks / 100;
}

/**
 * What a process has used so far: CPU seconds, and its largest resident size in MiB. Linux only.
 * @param {number} pid
 */
export function usage(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // utime and stime are the 14th and 15th fields, in ticks of 10 ms.
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuSeconds, peakMiB: Number(peak) / 1_024 };
}
