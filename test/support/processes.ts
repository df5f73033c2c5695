import { constants, openSync, readFileSync } from "node:fs";

/** Whether a process runs. One that has ended and was not waited for yet does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A FIFO opened for writing; undefined as long as it is not read. */
export function openedFifo(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
