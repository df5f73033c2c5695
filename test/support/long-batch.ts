import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderWith } from "./folder.js";
import { HappyService } from "./happy-service.js";
import { start } from "./run.js";
import { until } from "./service.js";

export interface LongBatch {
  /** Milliseconds from the start of the process to the first create. */
  firstCreateMs: number;
  /** Resident memory in MB when half of the creates had been made, and when all of them had. */
  early: number;
  late: number;
}

/** Runs a batch of so many rows until `creates` were made, and looks at its memory (Linux only). */
export async function longBatch(rows: number, creates: number): Promise<LongBatch> {
  const service = await HappyService.start({ output: (prompt) => prompt.repeat(10_000) });
  const home = folderWith();
  const file = join(home, "q.txt");
  const prompts = Array.from({ length: rows }, (_, i) => `Question ${i + 1}, at some length => COMPLETED\n`);
  writeFileSync(file, prompts.join(""));
  const begun = performance.now();
  const args = ["batch", file, "--out", join(home, "out"), "--tier", "enterprise"];
  const running = start(args, { home, env: service.env, timeoutMs: 1_200_000 });
  const reached = (count: number) =>
    until(async () => {
      if (running.child.exitCode !== null && service.server.count("create") < count)
        throw new Error(`it ended with ${running.child.exitCode}: ${running.stderr.slice(-1_000)}`);
      return service.server.count("create") >= count || undefined;
    }, 1_200_000);
  await reached(1);
  const firstCreateMs = performance.now() - begun;
  await reached(Math.ceil(creates / 2));
  const early = residentMb(running.pid);
  await reached(creates);
  const late = residentMb(running.pid);
  running.kill("SIGKILL");
  await running.done;
  await service.server.close();
  return { firstCreateMs, early, late };
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}
