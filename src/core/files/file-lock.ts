import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../clock.js";
import { blockFor, getErrorCode, listFolder, readIfExists } from "./file-access.js";
import {
  checkHolderLiveness,
  checkProcessLiveness,
  describeThisProcessAsHolder,
  type LockHolder,
  parseLockHolder,
} from "./file-lock/holder.js";
import { bindLivenessSocket, isLivenessSocketOpen } from "./file-lock/liveness-socket.js";

const RETRY_MS = 20;

/** The most attempts to take a free lock, since other processes may take and release it between two checks. */
const MAX_ROUNDS = 50;

/** The files of a lock: the record of its holder, and the holder's socket. */
const RECORD = /^holder-\w+$/;
const SOCKET = ".sock";
const MAX_RECORD_BYTES = 65_536;

const ownRecords = new Set<string>();

/** Thrown by `lock` if another process holds the lock, or if the process cannot find out whether the holder is alive. */
export class LockHeldError extends Error {
  override name = "LockHeldError";

  /** `holder` is a phrase for messages, such as `process 12 in another container`; `advice` says how to remove a stale lock. */
  constructor(
    path: string,
    readonly holder: string,
    readonly advice = "",
  ) {
    super(`${path} is held by ${holder}${advice}`);
  }
}

/** Thrown by `lock` if the file or folder at the path is not a readable lock, so that waiting would not help. */
export class UnreadableLockError extends LockHeldError {
  override name = "UnreadableLockError";

  constructor(path: string) {
    super(path, "an unknown process", `: ${path} cannot be read. If no research command uses it, remove it`);
  }
}

/**
 * Takes the lock at `path` and resolves with the function that releases it, which never throws. Takes over the lock of a
 * dead process. Rejects with LockHeldError if a living process holds the lock or if the holder cannot be checked (it is on
 * another host, or the lock cannot be read), with the system's errors, and with `signal.reason`.
 *
 * Waits up to `waitMs` for each process that holds the lock. If many processes take it in turn, the last one waits as long
 * as the others make progress.
 *
 * A lock is a folder with one record, whose name is never reused. A rename creates the folder complete, and fails if the
 * path exists and is not an empty folder. A process removes only the record that it has checked. So if several processes
 * take over the lock of a dead one, exactly one of them gets it.
 */
export async function acquireLock(
  path: string,
  waitMs = 0,
  signal?: AbortSignal,
  clock: Pick<Clock, "monotonic" | "sleep"> = systemClock,
): Promise<() => void> {
  const draft = fs.mkdtempSync(`${path}.`);
  const record = `holder-${basename(draft).slice(basename(path).length + 1)}`;
  const socket = record + SOCKET;
  fs.chmodSync(draft, 0o700);
  const closeWitness = await bindLivenessSocket(draft, socket);
  ownRecords.add(record);
  try {
    fs.writeFileSync(join(draft, record), JSON.stringify(describeThisProcessAsHolder()), { mode: 0o600 });
    let [holder, end] = ["", clock.monotonic() + waitMs];
    for (
      let failure = await publishLockRecord(draft, path);
      failure;
      failure = await publishLockRecord(draft, path)
    ) {
      const next = listLockRecords(path).join();
      if (next !== holder) [holder, end] = [next, clock.monotonic() + waitMs];
      if (failure instanceof UnreadableLockError || clock.monotonic() >= end) throw failure;
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
      removeLockRecord(path, record);
      fs.rmdirSync(path);
    } catch {
      // Another process has already taken the lock, or mistook this process for dead and removed the record.
    }
  };
}

async function publishLockRecord(draft: string, path: string): Promise<LockHeldError | undefined> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (renameLockDraft(draft, path)) return undefined;
      await removeDeadHolders(path);
    }
    return new LockHeldError(path, "one process after the other");
  } catch (error) {
    if (error instanceof LockHeldError) return error;
    throw error;
  }
}

function renameLockDraft(draft: string, path: string): boolean {
  try {
    fs.renameSync(draft, path);
    return true;
  } catch (error) {
    if (
      !fs.lstatSync(path, { throwIfNoEntry: false }) &&
      !["ENOTEMPTY", "EEXIST"].includes(getErrorCode(error) ?? "")
    )
      throw error;
    return false;
  }
}

/** Removes the records of dead holders. Rejects with LockHeldError if a holder is not certainly dead. */
async function removeDeadHolders(path: string): Promise<void> {
  for (const name of listLockRecords(path)) {
    const record = name.endsWith(SOCKET) ? name.slice(0, -SOCKET.length) : name;
    if (!RECORD.test(record)) throw new UnreadableLockError(path);
    // If a process crashes while it releases the lock, its socket remains without a record.
    const holder = readRecordHolder(join(path, record));
    // A torn record is from a power failure, because the record was complete when the lock appeared.
    if (holder) await requireDeadHolder(path, record, holder);
    removeLockRecord(path, record);
  }
  try {
    // On systems other than POSIX, a rename does not replace an empty folder.
    fs.rmdirSync(path);
  } catch {
    // The folder is gone, or another process has already taken the lock.
  }
}

/** Removes the drafts of processes that were killed while they waited for the lock. */
async function removeDeadDrafts(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  let siblings: string[] = [];
  try {
    siblings = listFolder(dirname(path));
  } catch {
    // The folder may be writable but not readable.
  }
  for (const name of siblings.filter((entry) => entry.startsWith(prefix))) {
    const [draft, record] = [join(dirname(path), name), `holder-${name.slice(prefix.length)}`];
    try {
      const holder = readRecordHolder(join(draft, record));
      if (!holder) continue;
      await requireDeadHolder(draft, record, holder);
      fs.rmSync(draft, { recursive: true, force: true });
    } catch {
      // It is not a draft, or its process is alive. Neither matters to the holder of the lock.
    }
  }
}

async function requireDeadHolder(path: string, record: string, holder: LockHolder): Promise<void> {
  const { pid, host } = holder;
  const thisHolder = describeThisProcessAsHolder();
  const isOwn =
    pid === thisHolder.pid && holder.namespace === thisHolder.namespace && holder.began === thisHolder.began;
  if (isOwn && holder.boot === thisHolder.boot && !ownRecords.has(record)) return;
  const liveness = await checkHolderLiveness(holder, () => isLivenessSocketOpen(path, record + SOCKET));
  if (liveness === "dead") return;
  const isNear = holder.namespace === thisHolder.namespace;
  const where =
    host !== thisHolder.host ? ` on ${JSON.stringify(host)}` : isNear ? "" : " in another container";
  const advice = liveness === "alive" ? "" : `. If that process has ended, remove ${path}`;
  throw new LockHeldError(path, `process ${pid}${where}`, advice);
}

function listLockRecords(path: string): string[] {
  try {
    if (fs.lstatSync(path).isDirectory()) return fs.readdirSync(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return [];
  }
  throw new UnreadableLockError(path);
}

/** Reads the holder from a record; undefined if the record is torn or missing. Throws UnreadableLockError if reading fails. */
function readRecordHolder(record: string): LockHolder | undefined {
  try {
    return parseLockHolder(readIfExists(record, MAX_RECORD_BYTES) ?? "");
  } catch {
    throw new UnreadableLockError(dirname(record));
  }
}

/** Removes a record and its socket, the record first, because a record must not exist without its socket. */
function removeLockRecord(path: string, record: string): void {
  fs.rmSync(join(path, record), { force: true });
  fs.rmSync(join(path, record + SOCKET), { force: true });
}

/** How often to check a lock, and how long to wait for its release, ms. */
const LOOK_MS = 5;
const LONGEST_WAIT_MS = 10_000;

/** Waits until no living process holds the lock at `path`; blocks the event loop. Throws after ten seconds. */
export function waitUntilLockFree(path: string): void {
  for (let looks = 0; isLockHeld(path); looks++) {
    if (looks * LOOK_MS > LONGEST_WAIT_MS) throw new Error(`${path} is held for too long`);
    blockFor(LOOK_MS);
  }
}

/** Returns whether a record of the lock names a process that may be alive. A lock that cannot be read counts as free. */
function isLockHeld(path: string): boolean {
  try {
    const records = fs.readdirSync(path).filter((name) => RECORD.test(name));
    return records.some((name) => {
      const holder = readRecordHolder(join(path, name));
      const thisHolder = describeThisProcessAsHolder();
      const isNear = holder?.boot === thisHolder.boot && holder?.namespace === thisHolder.namespace;
      return holder !== undefined && (!isNear || checkProcessLiveness(holder) !== "dead");
    });
  } catch {
    return false;
  }
}
