import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../clock.js";
import { getSystemCode, listNames, pause, readIfThere } from "./files.js";
import {
  checkLiveness,
  describeThisProcess,
  type Holder,
  parseHolder,
  processLiveness,
} from "./lock/holder.js";
import { bindWitness, isOpen } from "./lock/socket.js";

const RETRY_MS = 20;

/** Others can release and take the lock between two looks at it, but not this often in a row. */
const MAX_ROUNDS = 50;

/** What stands in a lock: a holder's record, and its socket. */
const RECORD = /^holder-\w+$/;
const SOCKET = ".sock";
const MAX_RECORD_BYTES = 65_536;

const ownRecords = new Set<string>();

/** Another process holds the lock, or what stands in its place cannot be checked. */
export class HeldError extends Error {
  override name = "HeldError";

  /** `holder` is for people: `process 12 in another container`. `advice`: what to do about one that cannot be checked. */
  constructor(
    path: string,
    readonly holder: string,
    readonly advice = "",
  ) {
    super(`${path} is held by ${holder}${advice}`);
  }
}

/** What stands in the lock's place cannot be read as a lock; to wait would not change that. */
export class UnreadableLockError extends HeldError {
  override name = "UnreadableLockError";

  constructor(path: string) {
    super(path, "an unknown process", `: ${path} cannot be read. If no research command uses it, remove it`);
  }
}

/**
 * Takes the lock at `path` and resolves with the function that releases it, which never throws. A dead holder is
 * passed over. Rejects with HeldError if a living process holds the lock or its holder cannot be checked (it is on
 * another host, or the lock cannot be read), with the system's errors, and with `signal.reason`.
 *
 * Waits up to `waitMs` for each process that holds the lock: where many take it in turn, the last one waits for as long as
 * the others make progress.
 *
 * A lock is a folder with one record, whose name is used once. It appears whole, by a rename, which fails if the
 * folder is there and not empty. Only the record that was checked is ever removed. So of any number of processes
 * that pass over a dead holder, one has the lock.
 */
export async function lock(
  path: string,
  waitMs = 0,
  signal?: AbortSignal,
  clock: Pick<Clock, "monotonic" | "sleep"> = systemClock,
): Promise<() => void> {
  const draft = fs.mkdtempSync(`${path}.`);
  const record = `holder-${basename(draft).slice(basename(path).length + 1)}`;
  const socket = record + SOCKET;
  fs.chmodSync(draft, 0o700);
  const closeWitness = await bindWitness(draft, socket);
  ownRecords.add(record);
  try {
    fs.writeFileSync(join(draft, record), JSON.stringify(describeThisProcess()), { mode: 0o600 });
    let [holder, end] = ["", clock.monotonic() + waitMs];
    for (let held = await publishLock(draft, path); held; held = await publishLock(draft, path)) {
      const next = listEntries(path).join();
      if (next !== holder) [holder, end] = [next, clock.monotonic() + waitMs];
      if (held instanceof UnreadableLockError || clock.monotonic() >= end) throw held;
      await clock.sleep(RETRY_MS, signal);
    }
    await removeDeadDrafts(path);
  } catch (error) {
    ownRecords.delete(record);
    closeWitness();
    fs.rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  return () => {
    ownRecords.delete(record);
    closeWitness();
    try {
      remove(path, record);
      fs.rmdirSync(path);
    } catch {
      // Another process has taken the lock, or finds this one's record to be a dead holder's.
    }
  };
}

async function publishLock(draft: string, path: string): Promise<HeldError | undefined> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (renameDraft(draft, path)) return undefined;
      await removeDeadHolders(path);
    }
    return new HeldError(path, "one process after the other");
  } catch (error) {
    if (error instanceof HeldError) return error;
    throw error;
  }
}

function renameDraft(draft: string, path: string): boolean {
  try {
    fs.renameSync(draft, path);
    return true;
  } catch (error) {
    if (
      !fs.lstatSync(path, { throwIfNoEntry: false }) &&
      !["ENOTEMPTY", "EEXIST"].includes(getSystemCode(error) ?? "")
    )
      throw error;
    return false;
  }
}

/** Empties the lock of dead holders. Rejects with HeldError if one is not dead for certain. */
async function removeDeadHolders(path: string): Promise<void> {
  for (const name of listEntries(path)) {
    const record = name.endsWith(SOCKET) ? name.slice(0, -SOCKET.length) : name;
    if (!RECORD.test(record)) throw new UnreadableLockError(path);
    // A socket whose record is gone is what a crash left of a lock that was being released.
    const holder = readRecordHolder(join(path, record));
    // The record was whole when the lock appeared: a torn one is older than a power failure.
    if (holder) await requireDead(path, record, holder);
    remove(path, record);
  }
  try {
    // Elsewhere than on POSIX systems a rename does not replace an empty folder.
    fs.rmdirSync(path);
  } catch {
    // It is gone, or somebody else's already.
  }
}

/** A process that is killed while it waits for the lock leaves its draft. */
async function removeDeadDrafts(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  let siblings: string[] = [];
  try {
    siblings = listNames(dirname(path));
  } catch {
    // A folder may be open to writing only.
  }
  for (const name of siblings.filter((entry) => entry.startsWith(prefix))) {
    const [draft, record] = [join(dirname(path), name), `holder-${name.slice(prefix.length)}`];
    try {
      const holder = readRecordHolder(join(draft, record));
      if (!holder) continue;
      await requireDead(draft, record, holder);
      fs.rmSync(draft, { recursive: true, force: true });
    } catch {
      // It is not a draft, or its process waits; neither concerns the holder.
    }
  }
}

async function requireDead(path: string, record: string, holder: Holder): Promise<void> {
  const { pid, host } = holder;
  const thisHolder = describeThisProcess();
  const isOwn =
    pid === thisHolder.pid && holder.namespace === thisHolder.namespace && holder.began === thisHolder.began;
  if (isOwn && holder.boot === thisHolder.boot && !ownRecords.has(record)) return;
  const liveness = await checkLiveness(holder, () => isOpen(path, record + SOCKET));
  if (liveness === "dead") return;
  const isNear = holder.namespace === thisHolder.namespace;
  const where =
    host !== thisHolder.host ? ` on ${JSON.stringify(host)}` : isNear ? "" : " in another container";
  const advice = liveness === "alive" ? "" : `. If that process has ended, remove ${path}`;
  throw new HeldError(path, `process ${pid}${where}`, advice);
}

function listEntries(path: string): string[] {
  try {
    if (fs.lstatSync(path).isDirectory()) return fs.readdirSync(path);
  } catch (error) {
    if (getSystemCode(error) === "ENOENT") return [];
  }
  throw new UnreadableLockError(path);
}

/** The holder that a record names; undefined for a torn one, and for none. */
function readRecordHolder(record: string): Holder | undefined {
  try {
    return parseHolder(readIfThere(record, MAX_RECORD_BYTES) ?? "");
  } catch {
    throw new UnreadableLockError(dirname(record));
  }
}

/** The record goes first: as long as it is there, so is its socket. */
function remove(path: string, record: string): void {
  fs.rmSync(join(path, record), { force: true });
  fs.rmSync(join(path, record + SOCKET), { force: true });
}

/** How often a lock that is held is looked at, and how long a holder is waited for, in milliseconds. */
const LOOK_MS = 5;
const LONGEST_WAIT_MS = 10_000;

/** Returns when no living process holds the lock at `path`; blocks the event loop. Throws after ten seconds. */
export function waitWhileHeld(path: string): void {
  for (let looks = 0; isHeld(path); looks++) {
    if (looks * LOOK_MS > LONGEST_WAIT_MS) throw new Error(`${path} is held for too long`);
    pause(LOOK_MS);
  }
}

/** Whether one of the lock's records names a process that may live. A lock that cannot be read counts as free. */
function isHeld(path: string): boolean {
  try {
    const records = fs.readdirSync(path).filter((name) => RECORD.test(name));
    return records.some((name) => {
      const holder = readRecordHolder(join(path, name));
      const thisHolder = describeThisProcess();
      const isNear = holder?.boot === thisHolder.boot && holder?.namespace === thisHolder.namespace;
      return holder !== undefined && (!isNear || processLiveness(holder) !== "dead");
    });
  } catch {
    return false;
  }
}
