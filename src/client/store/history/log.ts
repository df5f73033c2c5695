import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  appendLine,
  discard,
  getSystemCode,
  listNames,
  makeFolder,
  replaceFile,
} from "../../../core/files/files.js";
import { readLinesBackward } from "../../../core/files/lines-backward.js";
import { createLocalError } from "../../../core/files/local-error.js";
import { lock, waitWhileHeld } from "../../../core/files/lock.js";
import { stringifyExact } from "../../../core/json/exact-json.js";
import {
  buildEntry,
  buildNotCreatedEntry,
  getService,
  type HistoryEntry,
  type HistoryLine,
  mergeSeen,
  readLine,
  type SeenRecord,
} from "./records.js";

const LINE_BREAK = Buffer.from("\n");
/** How long (ms) to wait for a lock before its holder counts as stuck: rewriting 100,000 lines takes about a second. */
export const LOCK_WAIT_MS = 10_000;

const SETTLED: ReadonlySet<HistoryLine["kind"]> = new Set(["created", "dismissed", "not-created"]);

/** The append-only file of the history: a line for each request, and for each state seen later. */
export class AppendLog {
  #skipped = 0;

  /** Opens no file yet. */
  constructor(private readonly path: string) {}

  /** Lines that could not be read so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Appends a line, and again if a rewrite replaced the file meanwhile. `sync`: on the disk on return. Throws the system's error. */
  append(line: HistoryLine, { sync }: { sync: boolean }): void {
    makeFolder(dirname(this.path));
    const text = stringifyExact(line);
    const waitUntilSettled = () => waitWhileHeld(this.#lock);
    while (!appendLine(this.path, text, { sync, settle: waitUntilSettled })) if (this.#hasText(text)) return;
  }

  /** Rewrites each line, the newest first. No line that another process appends is lost. Rejects with HeldError. */
  async rewrite(change: (line: HistoryLine) => HistoryLine | undefined): Promise<void> {
    makeFolder(dirname(this.path));
    const release = await lock(this.#lock, LOCK_WAIT_MS);
    try {
      const kept: Buffer[] = [];
      for (const bytes of readLinesBackward(this.path)) {
        const line = readLine(bytes);
        // Another process may be appending the last line; if so, it writes that line again.
        if (line === undefined && kept.length === 0) continue;
        const next = line === undefined || line === "other" ? line : change(line);
        if (next === line) kept.push(LINE_BREAK, bytes);
        else if (next !== undefined && next !== "other")
          kept.push(LINE_BREAK, Buffer.from(stringifyExact(next)));
      }
      for (const name of listNames(dirname(this.path)))
        if (name.startsWith(`${basename(this.path)}.`) && name.endsWith(".draft"))
          discard(join(dirname(this.path), name));
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
   * Yields the newest line first; with `needle`, only lines that contain it. Skips torn lines and those of unknown kinds.
   * Throws LocalError. A file without read permission throws if `isStrict`; otherwise it counts as empty.
   */
  *readLines(needle?: string, isStrict = needle === undefined): Generator<HistoryLine> {
    try {
      for (const bytes of readLinesBackward(this.path, needle)) {
        const line = readLine(bytes);
        if (line === undefined) this.#skipped++;
        else if (line !== "other") yield line;
      }
    } catch (error) {
      if (!isUnreadable(error) || (isStrict && fs.existsSync(this.path)))
        throw createLocalError(`could not read ${this.path}`, error);
    }
  }

  /** Returns whether the log has the outcome of a create. */
  has(localId: string): boolean {
    for (const line of this.readLines(`"${localId}"`))
      if (SETTLED.has(line.kind) && "local_id" in line && line.local_id === localId) return true;
    return false;
  }
}

/** Returns whether this process lacks permission to read the history; callers then treat it as empty. */
export function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR"].includes(getSystemCode(error) ?? "");
}

/** Yields the requests in the log, newest first, in the state last seen, and creates that were never made. */
export function* readEntries(log: AppendLog, needle?: string): Generator<HistoryEntry> {
  const states = new Map<string, SeenRecord>();
  for (const line of log.readLines(needle)) {
    if (line.kind === "status") states.set(buildIdKey(line), mergeSeen(line, states.get(buildIdKey(line))));
    if (line.kind === "created") {
      yield buildEntry(line, states.get(buildIdKey(line)));
      // A service that restarts its ids reuses them: earlier states belong to the earlier request.
      states.delete(buildIdKey(line));
    }
    if (line.kind === "not-created") yield buildNotCreatedEntry(line);
  }
}

/** Distinguishes requests with the same id at different services. */
export function buildIdKey(request: Pick<SeenRecord, "origin" | "base_path" | "request_id">): string {
  return `${getService(request)} ${request.request_id}`;
}
