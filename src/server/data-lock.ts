import { promises as fs } from "node:fs";
import { join } from "node:path";
import { ServiceStartError } from "./start-error.js";

/** The process that holds a data folder. A number alone can come back after a restart, as in a container. */
interface Holder {
  pid: number;
  /** When the process began, in the system's own count; absent where the system does not say. */
  began?: string;
}

/** Takes a data folder for this process alone; resolves with what gives it back. Rejects with DATA_HELD. */
export async function lockData(dataDir: string): Promise<() => Promise<void>> {
  const path = join(dataDir, "lock");
  const began = await beginningOf(process.pid);
  const mine = JSON.stringify({ pid: process.pid, ...(began === undefined ? {} : { began }) });
  const own = `${path}.${process.pid}`;
  // A link appears with its text or not at all; a file that is written has a moment in between.
  await fs.writeFile(own, mine, { mode: 0o600 });
  try {
    while (!(await linked(own, path))) await bury(path, own, dataDir);
  } finally {
    await fs.rm(own, { force: true });
  }
  return async () => {
    if ((await textOf(path)) === mine) await fs.rm(path, { force: true });
  };
}

/** Moves a dead process's lock out of the way. Rejects when its process lives. */
async function bury(path: string, own: string, dataDir: string): Promise<void> {
  const text = await textOf(path);
  if (text === undefined) return;
  const holder = holderOf(text);
  if (holder !== undefined && (await lives(holder))) {
    throw new ServiceStartError("DATA_HELD", `The data folder ${dataDir} is held by process ${holder.pid}.`);
  }
  const grave = `${own}.dead`;
  const moved = await fs.rename(path, grave).then(
    () => true,
    () => false,
  );
  // Another process may have been quicker, and what was moved is its living lock.
  if (moved && (await textOf(grave)) !== text) await linked(grave, path);
  await fs.rm(grave, { force: true });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return fs.readFile(path, "utf8").catch(() => undefined);
}

function holderOf(text: string): Holder | undefined {
  try {
    const { pid, began } = JSON.parse(text);
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, began } : undefined;
  } catch {
    return undefined;
  }
}

async function lives({ pid, began }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  const now = await beginningOf(pid);
  return began === undefined || now === undefined || began === now;
}

/** Linux: the 22nd field of /proc/PID/stat, after a name that may hold anything, with the boot it counts from. */
async function beginningOf(pid: number): Promise<string | undefined> {
  const stat = await textOf(`/proc/${pid}/stat`);
  const boot = await textOf("/proc/sys/kernel/random/boot_id");
  const ticks = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return ticks === undefined ? undefined : `${boot?.trim()} ${ticks}`;
}
