import { dirname } from "node:path";
import { exactJson } from "../../json/exact-json.js";
import { inWords, LocalError, systemCode } from "../errors.js";
import { appendLine, makeFolder } from "../files.js";
import { linesBackward } from "./read-backward.js";
import { type HistoryLine, readLine } from "./records.js";

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

  /** Throws the system's error. `sync`: back only when the line is on the disk. */
  append(line: HistoryLine, { sync }: { sync: boolean }): void {
    makeFolder(dirname(this.#path));
    appendLine(this.#path, exactJson(line), { sync });
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
