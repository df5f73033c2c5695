import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  appendLine,
  getErrorCode,
  listFolder,
  makePrivateFolder,
  removeDraft,
  replaceFile,
} from "../../../core/files/file-access.js";
import { acquireLock, waitUntilLockFree } from "../../../core/files/file-lock.js";
import { createLocalError } from "../../../core/files/local-error.js";
import { readLinesBackward } from "../../../core/files/read-lines-backward.js";
import { stringifyExact } from "../../../core/json/exact-json.js";
import {
  buildHistoryEntry,
  buildNotCreatedEntry,
  getServiceAddress,
  type HistoryEntry,
  type HistoryLine,
  mergeStateRecords,
  parseHistoryLine,
  type StateRecord,
} from "./history-records.js";

const LINE_BREAK = Buffer.from("\n");
/** How long (ms) to wait for a lock. A holder that rewrites 100,000 lines needs about a second, so one that needs longer counts as stuck. */
export const LOCK_WAIT_MS = 10_000;

const SETTLED: ReadonlySet<HistoryLine["kind"]> = new Set(["created", "dismissed", "not-created"]);

/** The append-only file of the history, with a line for each request and for each state seen later. */
export class AppendLog {
  #skipped = 0;

  /** Creates the log without opening the file. */
  constructor(private readonly path: string) {}

  /** The number of lines that could not be read so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Appends a line, and repeats that if a rewrite replaced the file meanwhile. `sync`: whether to flush it to disk. Throws the system's error. */
  append(line: HistoryLine, { sync }: { sync: boolean }): void {
    makePrivateFolder(dirname(this.path));
    const text = stringifyExact(line);
    const waitUntilSettled = () => waitUntilLockFree(this.#lock);
    while (!appendLine(this.path, text, { sync, settle: waitUntilSettled })) if (this.#hasText(text)) return;
  }

  /** Replaces each line, newest first, by what `change` returns (undefined removes it). Keeps lines appended meanwhile. Rejects with LockHeldError. */
  async rewrite(change: (line: HistoryLine) => HistoryLine | undefined): Promise<void> {
    makePrivateFolder(dirname(this.path));
    const release = await acquireLock(this.#lock, LOCK_WAIT_MS);
    try {
      const kept: Buffer[] = [];
      for (const bytes of readLinesBackward(this.path)) {
        const line = parseHistoryLine(bytes);
        // An incomplete last line may be one that another process is appending; that process writes it again.
        if (line === undefined && kept.length === 0) continue;
        const next = line === undefined || line === "other" ? line : change(line);
        if (next === line) kept.push(LINE_BREAK, bytes);
        else if (next !== undefined && next !== "other")
          kept.push(LINE_BREAK, Buffer.from(stringifyExact(next)));
      }
      for (const name of listFolder(dirname(this.path)))
        if (name.startsWith(`${basename(this.path)}.`) && name.endsWith(".draft"))
          removeDraft(join(dirname(this.path), name));
      replaceFile(this.path, Buffer.concat(kept.reverse()));
    } finally {
      release();
    }
  }

  get #lock(): string {
    return `${this.path}.lock`;
  }

  #hasText(text: string): boolean {
    for (const _ of readLinesBackward(this.path, text)) return true;
    return false;
  }

  /**
   * Yields the lines, newest first; with `needle` only those that contain it. Skips torn lines and lines of unknown
   * kinds. Throws LocalError. A file without read permission counts as empty, unless `isStrict`.
   */
  *readLines(needle?: string, isStrict = needle === undefined): Generator<HistoryLine> {
    try {
      for (const bytes of readLinesBackward(this.path, needle)) {
        const line = parseHistoryLine(bytes);
        if (line === undefined) this.#skipped++;
        else if (line !== "other") yield line;
      }
    } catch (error) {
      if (!isUnreadableHistory(error) || (isStrict && fs.existsSync(this.path)))
        throw createLocalError(`could not read ${this.path}`, error);
    }
  }

  /** Returns whether the log has an outcome of the create call. */
  has(localId: string): boolean {
    for (const line of this.readLines(`"${localId}"`))
      if (SETTLED.has(line.kind) && "local_id" in line && line.local_id === localId) return true;
    return false;
  }
}

/** Returns whether an error means that this process may not read the history; callers then treat it as empty. */
export function isUnreadableHistory(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR"].includes(getErrorCode(error) ?? "");
}

/** Yields the requests in the log in their last seen states, and create calls that were settled as not created, newest first. */
export function* readHistoryEntries(log: AppendLog, needle?: string): Generator<HistoryEntry> {
  const states = new Map<string, StateRecord>();
  for (const line of log.readLines(needle)) {
    if (line.kind === "status")
      states.set(buildRequestKey(line), mergeStateRecords(line, states.get(buildRequestKey(line))));
    if (line.kind === "created") {
      yield buildHistoryEntry(line, states.get(buildRequestKey(line)));
      // A service that restarts its ids uses them again: older states belong to the earlier request.
      states.delete(buildRequestKey(line));
    }
    if (line.kind === "not-created") yield buildNotCreatedEntry(line);
  }
}

/** Builds a key that differs for requests with the same id at different services. */
export function buildRequestKey(request: Pick<StateRecord, "origin" | "base_path" | "request_id">): string {
  return `${getServiceAddress(request)} ${request.request_id}`;
}
