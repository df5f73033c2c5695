import * as fs from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "./errors.js";
import { makeFolder } from "./files.js";

/** How soon a lock that is held is tried again, in milliseconds. */
const AGAIN_MS = 10;

/** Somebody else holds the lock. */
export class HeldError extends Error {
  readonly pid: number;

  constructor(path: string, pid: number) {
    super(`${path} is held by process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Takes a lock that is a file naming its holder, and returns the function that gives it back. A holder that
 * has died is passed over. Throws HeldError while another process, or this one, has it.
 */
export function lock(path: string): () => void {
  makeFolder(dirname(path));
  // The file appears with its text or not at all: a link is made in one step, a write is not.
  const own = `${path}.${process.pid}.${Date.now().toString(36)}`;
  fs.writeFileSync(own, String(process.pid), { mode: 0o600 });
  try {
    for (let tries = 0; !linked(own, path); tries++) {
      const holder = holderOf(path);
      if (holder !== undefined && (tries > 100 || isAlive(holder))) throw new HeldError(path, holder);
      if (holder !== undefined) bury(path, own, holder);
    }
  } finally {
    fs.rmSync(own, { force: true });
  }
  return () => fs.rmSync(path, { force: true });
}

/**
 * The same, waiting up to `waitMs` while another process has it. For a lock that is held for a moment; throws
 * HeldError where it is not given back in time.
 */
export async function lockWithin(path: string, waitMs: number): Promise<() => void> {
  for (const end = performance.now() + waitMs; ; ) {
    try {
      return lock(path);
    } catch (error) {
      if (!(error instanceof HeldError) || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** Moves a dead holder's file out of the way; puts it back if another process was quicker and it is a living one's. */
function bury(path: string, own: string, dead: number): void {
  const grave = `${own}.dead`;
  try {
    fs.renameSync(path, grave);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  if (holderOf(grave) !== dead) linked(grave, path);
  fs.rmSync(grave, { force: true });
}

function linked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** The process named in a lock file; 0 for one that names none, undefined where there is no such file. */
function holderOf(path: string): number | undefined {
  try {
    return Number.parseInt(fs.readFileSync(path, "utf8"), 10) || 0;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
