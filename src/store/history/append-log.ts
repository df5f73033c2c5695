import { basename, dirname, join } from "node:path";
import { exactJson } from "../../json/exact-json.js";
import { waitWhileHeld } from "../../lock/wait.js";
import { inWords, LocalError, systemCode } from "../errors.js";
import { appendLine, discard, makeFolder, namesIn, replaceFile } from "../files.js";
import { linesBackward } from "./read-backward.js";
import { type HistoryLine, readLine } from "./records.js";

const LINE_BREAK = Buffer.from("\n");
/** To rewrite 100,000 lines takes about a second; a holder of this many milliseconds is stuck. */
const LOCK_WAIT_MS = 10_000;

const SETTLED: ReadonlySet<HistoryLine["kind"]> = new Set(["created", "dismissed", "not-created"]);

/** The append-only file of the history: a line for each request, and for each state seen later. */
export class AppendLog {
  readonly #path: string;
  #skipped = 0;

  /** Touches nothing yet. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Lines that could not be read so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Throws the system's error. `sync`: back only when the line is on the disk. A line that came while the log was being
   * rewritten may be in the file that was replaced, and then it is written once more.
   */
  append(line: HistoryLine, { sync }: { sync: boolean }): void {
    makeFolder(dirname(this.#path));
    const text = exactJson(line);
    const settled = () => waitWhileHeld(this.#lock);
    while (!appendLine(this.#path, text, { sync, settled })) if (this.#holds(text)) return;
  }

  /**
   * Leaves out the lines that `isDropped` accepts: a crash leaves the old file or the new one, and no line that another
   * process appends meanwhile is lost. Rejects with HeldError if another process rewrites it for too long, and with the
   * system's error; then the old file stands.
   */
  async rewrite(isDropped: (line: HistoryLine) => boolean): Promise<void> {
    makeFolder(dirname(this.#path));
    const { lockWithin } = await import("../../lock.js");
    const release = await lockWithin(this.#lock, LOCK_WAIT_MS);
    try {
      const kept: Buffer[] = [];
      for (const bytes of linesBackward(this.#path)) {
        const line = readLine(bytes);
        // The last line may be one that is being appended: it is written once more.
        if (line === undefined && kept.length === 0) continue;
        if (line === undefined || line === "other" || !isDropped(line)) kept.push(LINE_BREAK, bytes);
      }
      for (const name of namesIn(dirname(this.#path)))
        if (name.startsWith(`${basename(this.#path)}.`) && name.endsWith(".draft"))
          discard(join(dirname(this.#path), name));
      replaceFile(this.#path, Buffer.concat(kept.reverse()));
    } finally {
      release();
    }
  }

  get #lock(): string {
    return `${this.#path}.lock`;
  }

  #holds(text: string): boolean {
    for (const _ of linesBackward(this.#path, text)) return true;
    return false;
  }

  /** The newest line first; with `needle`, only lines that contain it. Torn lines and those of unknown kinds are passed over. */
  *lines(needle?: string): Generator<HistoryLine> {
    try {
      for (const bytes of linesBackward(this.#path, needle)) {
        const line = readLine(bytes);
        if (line === undefined) this.#skipped++;
        else if (line !== "other") yield line;
      }
    } catch (error) {
      if (!isUnreadable(error))
        throw new LocalError(`could not read ${this.#path}: ${inWords(error)}`, { cause: error });
    }
  }

  /** Whether a create is in the log: made, or settled as not made. */
  has(localId: string): boolean {
    for (const line of this.lines(`"${localId}"`))
      if (SETTLED.has(line.kind) && "local_id" in line && line.local_id === localId) return true;
    return false;
  }
}

/** Whether the history may not be read: a reader then finds it empty. */
export function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR"].includes(systemCode(error) ?? "");
}
