import * as fs from "node:fs";

/** How soon a lock that is held is tried again, in milliseconds. */
const AGAIN_MS = 10;

/** The process that holds a lock. A number alone can come back after a restart, as it does in a container. */
interface Holder {
  pid: number;
  /** When the process began, as the system counts it; absent where the system does not say. */
  began?: string | undefined;
}

/** Somebody else holds the lock. */
export class HeldError extends Error {
  /** 0 where the file names nobody. */
  readonly pid: number;

  constructor(path: string, pid: number) {
    super(`${path} is held by process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Takes a lock that is a file naming its holder, and returns the function that gives it back. A holder that
 * has died is passed over. Throws HeldError while a living process has it, and the system's errors.
 */
export function lock(path: string): () => void {
  // The file appears with its text or not at all: a link is made in one step, a write is not.
  const own = `${path}.${process.pid}.${performance.now().toString(36)}`;
  const mine = JSON.stringify({ pid: process.pid, began: beginningOf(process.pid) } satisfies Holder);
  try {
    fs.writeFileSync(own, mine, { mode: 0o600 });
    while (!linked(own, path)) bury(path, own);
  } finally {
    fs.rmSync(own, { force: true });
  }
  return () => {
    if (textOf(path) === mine) fs.rmSync(path, { force: true });
  };
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

/** Moves a dead process's lock out of the way. Throws HeldError where its process lives. */
function bury(path: string, own: string): void {
  const text = textOf(path);
  if (text === undefined) return;
  const holder = holderOf(text);
  if (holder && lives(holder)) throw new HeldError(path, holder.pid);
  const grave = `${own}.dead`;
  try {
    fs.renameSync(path, grave);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  // Another process may have been quicker, and what was moved is its living lock.
  if (textOf(grave) !== text) linked(grave, path);
  fs.rmSync(grave, { force: true });
}

function linked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function textOf(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function holderOf(text: string): Holder | undefined {
  try {
    const { pid, began } = JSON.parse(text);
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, began } : undefined;
  } catch {
    return undefined;
  }
}

function lives({ pid, began }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, "EPERM")) return false;
  }
  const now = beginningOf(pid);
  return began === undefined || now === undefined || began === now;
}

/** Linux: the 22nd field of /proc/PID/stat, after a name that may hold anything, with the boot it counts from. */
function beginningOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  const ticks = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return ticks === undefined ? undefined : `${textOf("/proc/sys/kernel/random/boot_id")?.trim()} ${ticks}`;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
