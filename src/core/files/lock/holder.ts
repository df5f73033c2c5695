import * as fs from "node:fs";
import { hostname } from "node:os";
import { readJsonPath, readText } from "../../json/exact-json.js";
import { getSystemCode } from "../files.js";

/** The process that holds a lock, as described in the lock's record. */
export interface Holder {
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
export function describeThisProcess(): Holder {
  const began = readProc("/proc/self/stat");
  return {
    pid: process.pid,
    host: hostname(),
    namespace: readPidNamespace(),
    began: began === undefined ? undefined : statFields(began).began,
    boot: readProc("/proc/sys/kernel/random/boot_id"),
  };
}

/** Parses the text of a record; undefined if the record is torn. */
export function parseHolder(text: string): Holder | undefined {
  const { pid, host, namespace, began, boot } = Object(readJsonPath(text));
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    host: typeof host === "string" ? host : "",
    namespace: readText(namespace),
    began: readText(began),
    boot: readText(boot),
  };
}

/** Reads the state (a letter, see proc(5)) and start of a process in this PID namespace; undefined if it is hidden. */
export function processStat(pid: number): { state: string; began: string } | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : statFields(stat);
}

/** Determines whether a holder in this PID namespace is alive. */
export function processLiveness({ pid, began }: Holder): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (getSystemCode(error) === "ESRCH") return "dead";
  }
  const stat = processStat(pid);
  if (stat === undefined || began === undefined) return "unknown";
  // Z: a zombie has ended, but its parent has not waited for it yet.
  return stat.began === began && stat.state !== "Z" && stat.state !== "X" ? "alive" : "dead";
}

/** Returns fields 3 and 22 of /proc/PID/stat. The name before them is in parentheses and may contain any characters. */
function statFields(stat: string): { state: string; began: string } {
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

function readProc(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * Determines whether a holder is alive. `isOpen` tries the holder's socket, even from another PID namespace of this boot;
 * it resolves with undefined if there is no socket. A holder on this host with another boot has died with that boot.
 */
export async function checkLiveness(
  holder: Holder,
  isOpen: () => Promise<boolean | undefined> = async () => undefined,
): Promise<Liveness> {
  const thisHolder = describeThisProcess();
  const isSameHost = holder.host === thisHolder.host;
  if (holder.boot !== thisHolder.boot) return isSameHost ? "dead" : "unknown";
  if (thisHolder.boot === undefined && !isSameHost) return "unknown";
  if (thisHolder.namespace !== undefined && thisHolder.namespace === holder.namespace) {
    const liveness = processLiveness(holder);
    if (liveness !== "unknown") return liveness;
  }
  const open = await isOpen();
  return open === undefined ? "unknown" : open ? "alive" : "dead";
}
