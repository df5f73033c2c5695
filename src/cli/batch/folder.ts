import * as fs from "node:fs";
import { join } from "node:path";
import { HeldError, lock } from "../../lock.js";
import { inWords, LocalError } from "../../store/errors.js";
import { makeFolder, namesIn, readIfThere } from "../../store/files.js";
import { after, append, type JournalLine, type Known, readJournal } from "./journal.js";

/** The batch's own files, out of the way of the results. */
const STATE = ".research-batch";
const RESULTS = "results.jsonl";

/** What the journal in an output folder knows, without taking the folder. Throws LocalError. */
export function peek(out: string): Map<string, Known> {
  return guarded(out, () => readJournal(join(out, STATE, "journal.jsonl")));
}

/**
 * The output folder of a batch, taken by this process alone: a file for each result, `results.jsonl` with a line
 * for each row that ended, and the journal by which the same command goes on.
 */
export class BatchFolder {
  readonly path: string;
  readonly known: Map<string, Known>;
  readonly #release: () => void;

  private constructor(path: string, release: () => void) {
    this.path = path;
    this.#release = release;
    this.known = peek(path);
  }

  /** Makes the folder where there is none. Throws LocalError, naming the process where another has it. */
  static async open(path: string): Promise<BatchFolder> {
    guarded(path, () => {
      fs.mkdirSync(path, { recursive: true });
      makeFolder(join(path, STATE));
    });
    const release = await taken(path);
    try {
      return guarded(path, () => {
        const folder = new BatchFolder(path, release);
        fs.rmSync(folder.#inState("drafts"), { recursive: true, force: true });
        cutTornLine(join(path, RESULTS));
        return folder;
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Names in the folder that are no results of this batch. */
  get foreign(): ReadonlySet<string> {
    const own = new Set(Array.from(this.known.values(), ({ stem }) => stem));
    return new Set(namesIn(this.path).filter((name) => !own.has(name.replace(/\.(md|json)$/, ""))));
  }

  /** Adds a line to the journal, and to what is known. Throws LocalError. */
  record(line: JournalLine, options?: { sync: boolean }): void {
    guarded(this.path, () => append(this.#inState("journal.jsonl"), line, options));
    const next = after(this.known.get(line.row), line);
    if (next) this.known.set(line.row, next);
  }

  /** Writes a result whole or not at all, over an earlier one of the same row. Throws LocalError. */
  write(name: string, text: string): void {
    guarded(this.path, () => {
      const drafts = this.#inState("drafts");
      fs.mkdirSync(drafts, { recursive: true });
      const draft = join(drafts, name);
      fs.writeFileSync(draft, text, { flush: true });
      fs.renameSync(draft, join(this.path, name));
    });
  }

  /** Adds a line to `results.jsonl`. Throws LocalError. */
  addResult(line: { row: string; at: string }): void {
    guarded(this.path, () => fs.appendFileSync(join(this.path, RESULTS), `${JSON.stringify(line)}\n`));
  }

  /** Which rows `results.jsonl` has a line for, with the time in the last one. */
  listed(): Map<string, unknown> {
    const text = guarded(this.path, () => readIfThere(join(this.path, RESULTS)) ?? "");
    const listed = new Map<string, unknown>();
    for (const line of text.split("\n")) {
      const { row, at } = objectOf(line);
      if (typeof row === "string") listed.set(row, at);
    }
    return listed;
  }

  /** Gives the folder back. */
  close(): void {
    this.#release();
  }

  #inState(name: string): string {
    return join(this.path, STATE, name);
  }
}

async function taken(path: string): Promise<() => void> {
  try {
    return await lock(join(path, STATE, "lock"));
  } catch (error) {
    const why =
      error instanceof HeldError
        ? `${path} is being written by another batch, ${error.holder}${error.advice}`
        : `the output folder ${path} cannot be used: ${inWords(error)}`;
    throw new LocalError(why, { cause: error });
  }
}

/** A crash may leave half a line, which its row then gets again; whole lines stay as they are. */
function cutTornLine(path: string): void {
  if (!fs.existsSync(path)) return;
  const bytes = fs.readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) fs.truncateSync(path, end);
}

function objectOf(line: string): { row?: unknown; at?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function guarded<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError(`the output folder ${path} cannot be used: ${inWords(error)}`, { cause: error });
  }
}
