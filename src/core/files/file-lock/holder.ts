import * as fs from "node:fs";
import { hostname } from "node:os";
import { readString, tryParseExact } from "../../json/exact-json.js";
import { getErrorCode } from "../file-access.js";

/** The process that holds a lock, as described in the lock's record. */
export interface LockHolder {
  pid: number;
  host: string;
  /** Identifies the PID namespace of `pid`; undefined if unknown. */
  namespace?: string | undefined;
  /** The start of the process, in ticks since boot, which distinguishes processes with the same pid. Linux only. */
  began?: string | undefined;
  /** Identifies the boot of the kernel, which its containers have in common. Linux only. */
  boot?: string | undefined;
}

/** Whether a holder is alive. If this process cannot find out (`unknown`), the lock counts as held. */
export type Liveness = "alive" | "dead" | "unknown";

/** Returns this process as a holder. */
export function describeThisProcessAsHolder(): LockHolder {
  const began = readProcFile("/proc/self/stat");
  return {
    pid: process.pid,
    host: hostname(),
    namespace: readPidNamespace(),
    began: began === undefined ? undefined : parseProcStat(began).began,
    boot: readProcFile("/proc/sys/kernel/random/boot_id"),
  };
}

/** Parses the text of a record; undefined if the record is torn. */
export function parseLockHolder(text: string): LockHolder | undefined {
  const { pid, host, namespace, began, boot } = Object(tryParseExact(text));
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    host: typeof host === "string" ? host : "",
    namespace: readString(namespace),
    began: readString(began),
    boot: readString(boot),
  };
}

/** Reads the state (a letter, see proc(5)) and start of a process in this PID namespace; undefined if it is hidden. */
export function readProcessStat(pid: number): { state: string; began: string } | undefined {
  const stat = readProcFile(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseProcStat(stat);
}

/** Determines whether a holder in this PID namespace is alive. */
export function checkProcessLiveness({ pid, began }: LockHolder): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (getErrorCode(error) === "ESRCH") return "dead";
  }
  const stat = readProcessStat(pid);
  if (stat === undefined || began === undefined) return "unknown";
  // Z is a zombie: a process that has ended, but whose parent has not waited for it yet.
  return stat.began === began && stat.state !== "Z" && stat.state !== "X" ? "alive" : "dead";
}

/** Returns fields 3 and 22 of /proc/PID/stat. The name before them is in parentheses and may contain any characters. */
function parseProcStat(stat: string): { state: string; began: string } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", began: fields[19] ?? "" };
}

/** Identifies this PID namespace (only Linux has several); undefined if /proc belongs to another namespace. */
function readPidNamespace(): string | undefined {
  if (process.platform !== "linux") return process.platform;
  try {
    if (fs.readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    return fs.readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}

function readProcFile(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * Determines whether a holder is alive. `isLivenessSocketOpen` tries the holder's socket, even from another PID namespace of this boot;
 * it resolves with undefined if there is no socket. A holder on this host with another boot has died with that boot.
 */
export async function checkHolderLiveness(
  holder: LockHolder,
  isOpen: () => Promise<boolean | undefined> = async () => undefined,
): Promise<Liveness> {
  const thisHolder = describeThisProcessAsHolder();
  const isSameHost = holder.host === thisHolder.host;
  if (holder.boot !== thisHolder.boot) return isSameHost ? "dead" : "unknown";
  if (thisHolder.boot === undefined && !isSameHost) return "unknown";
  if (thisHolder.namespace !== undefined && thisHolder.namespace === holder.namespace) {
    const liveness = checkProcessLiveness(holder);
    if (liveness !== "unknown") return liveness;
  }
  const open = await isOpen();
  return open === undefined ? "unknown" : open ? "alive" : "dead";
}
