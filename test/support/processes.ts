import { readFileSync } from "node:fs";

/** Whether a process runs. One that has ended and was not waited for yet does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
