import * as fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/** The process that holds a lock, as its record in the lock names it. */
export interface Holder {
  pid: number;
  host: string;
  /** Identifies the PID namespace that `pid` counts in; absent if the system does not say. */
  namespace?: string | undefined;
  /** When the process began, in the kernel's ticks since boot: a pid is reused, the pair is not. Linux only. */
  began?: string | undefined;
  /** Identifies the running kernel, which all containers on it share. Linux only. */
  boot?: string | undefined;
  /** Identifies the machine across its reboots; absent if nothing does so for certain. */
  machine?: string | undefined;
  /** The device number of the file system on which the holder's socket is bound; absent without a socket. */
  device?: number | undefined;
}

/** `unknown`: it cannot be found out from here, so the lock counts as held. */
export type Liveness = "alive" | "dead" | "unknown";

/** This process as a holder. `device`: see Holder. */
export function thisProcess(device?: number): Holder {
  const began = readProc("/proc/self/stat");
  return {
    pid: process.pid,
    host: hostname(),
    namespace: pidNamespace(),
    began: began === undefined ? undefined : statFields(began).began,
    boot: readProc("/proc/sys/kernel/random/boot_id"),
    machine: machineId(),
    device,
  };
}

/** The holder that a record names; undefined for a torn record. */
export function parseHolder(text: string): Holder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, host, namespace, began, boot, machine, device } = value as Record<string, unknown>;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    host: typeof host === "string" ? host : "",
    namespace: textOrNone(namespace),
    began: textOrNone(began),
    boot: textOrNone(boot),
    machine: textOrNone(machine),
    device: typeof device === "number" ? device : undefined,
  };
}

/** A process of this PID namespace: its state letter (proc(5)) and when it began; undefined if it is hidden. */
export function processStat(pid: number): { state: string; began: string } | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : statFields(stat);
}

/** Whether the holder, a process of this PID namespace, lives. */
export function processLiveness({ pid, began }: Holder): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return "dead";
  }
  const stat = processStat(pid);
  if (stat === undefined || began === undefined) return "unknown";
  // Z: a zombie has ended, and its parent has not asked yet.
  return stat.began === began && stat.state !== "Z" && stat.state !== "X" ? "alive" : "dead";
}

/** Fields 3 and 22 of /proc/PID/stat; the name before them is in parentheses and may hold anything. */
function statFields(stat: string): { state: string; began: string } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", began: fields[19] ?? "" };
}

/** Other systems than Linux have no PID namespaces. A /proc of another namespace has no entry for this process. */
function pidNamespace(): string | undefined {
  if (process.platform !== "linux") return process.platform;
  try {
    if (fs.readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    return fs.readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}

/** The PID namespace that no container has: PROC_PID_INIT_INO in Linux's include/linux/proc_ns.h. */
const INITIAL_NAMESPACE = "pid:[4026531836]";

/** Docker's random host name stays when a container starts again. An image's machine id may be in many containers. */
function machineId(): string | undefined {
  const host = hostname();
  if (/^[0-9a-f]{12}$/.test(host)) return host;
  const isImage = fs.existsSync("/.dockerenv") || fs.existsSync("/run/.containerenv");
  if (isImage && pidNamespace() !== INITIAL_NAMESPACE) return undefined;
  const id = readProc("/etc/machine-id");
  return id ? `${id} ${host}` : undefined;
}

function readProc(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** How often a lock that is held is looked at, and how long a holder is waited for, in milliseconds. */
const LOOK_MS = 5;
const LONGEST_WAIT_MS = 10_000;

/** Returns when no living process holds the lock at `path`; blocks the event loop. Throws after ten seconds. */
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
