import * as fs from "node:fs";
import { join } from "node:path";
import { parseHolder, processLiveness, thisProcess } from "./holder.js";

/** How often a lock that is held is looked at, and how long a holder is waited for, in milliseconds. */
const LOOK_MS = 5;
const LONGEST_WAIT_MS = 10_000;

/**
 * Returns when no living process holds the lock at `path`, without giving way to other work: what follows is done
 * before the lock is looked at again. Throws an error for a holder that keeps it for more than ten seconds.
 */
export function waitWhileHeld(path: string): void {
  for (let looks = 0; isHeld(path); looks++) {
    if (looks * LOOK_MS > LONGEST_WAIT_MS) throw new Error(`${path} is held for too long`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  }
}

/** Whether one of the lock's records names a process that may live. A lock that cannot be read counts as free. */
function isHeld(path: string): boolean {
  try {
    const records = fs.readdirSync(path).filter((name) => /^holder-\w+$/.test(name));
    return records.some((name) => {
      const holder = parseHolder(fs.readFileSync(join(path, name), "utf8"));
      const own = thisProcess();
      const isNear = holder?.boot === own.boot && holder?.namespace === own.namespace;
      return holder !== undefined && (!isNear || processLiveness(holder) !== "dead");
    });
  } catch {
    return false;
  }
}
