import * as fs from "node:fs";
import { join } from "node:path";
import { HeldError, lock } from "../../../lock.js";
import { inWords, LocalError } from "../../../store/errors.js";
import { makeFolder, makeSharedFolder, namesIn } from "../../../store/files.js";
import { afterLine, appendToJournal, type JournalLine, type KnownRow, readJournal } from "./journal.js";
import { ResultsFile } from "./results-file.js";

/** The batch's own files, apart from the results. */
const STATE = ".research-batch";
const JOURNAL = join(STATE, "journal.jsonl");

/** What the journal in an output folder knows, without taking the folder. Throws LocalError. */
export function readKnownRows(out: string): Map<string, KnownRow> {
  return withLocalErrors(out, () => readJournal(join(out, JOURNAL)));
}

/**
 * The output folder of a batch, locked by this process: a file for each result, `results.jsonl` with a line for
 * each row that ended, and the journal from which the same command goes on.
 */
export class OutputFolder {
  readonly path: string;
  readonly known: Map<string, KnownRow>;
  readonly results: ResultsFile;
  readonly #release: () => void;

  private constructor(path: string, release: () => void) {
    this.path = path;
    this.#release = release;
    this.known = readKnownRows(path);
    this.results = new ResultsFile(path, withLocalErrors);
  }

  /**
   * Makes the folder if it does not exist. Rejects with LocalError, which names the process that holds it, and
   * for a `results.jsonl` that no journal of this folder accounts for.
   */
  static async open(path: string): Promise<OutputFolder> {
    withLocalErrors(path, () => {
      makeSharedFolder(path);
      refuseForeignFiles(path);
      makeFolder(join(path, STATE));
    });
    const release = await acquire(path);
    try {
      return withLocalErrors(path, () => {
        const folder = new OutputFolder(path, release);
        fs.rmSync(join(path, STATE, "drafts"), { recursive: true, force: true });
        folder.results.cutTornLine();
        return folder;
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Names in the folder that are not results of this batch. Throws LocalError. */
  get foreign(): ReadonlySet<string> {
    const own = new Set(Array.from(this.known.values(), ({ stem }) => stem));
    const names = withLocalErrors(this.path, () => namesIn(this.path));
    return new Set(names.filter((name) => !own.has(name.replace(/\.(md|json)$/, ""))));
  }

  /** Whether a result's file is there. */
  has(name: string): boolean {
    return fs.existsSync(join(this.path, name));
  }

  /** Adds a line to the journal, and to what is known. Throws LocalError. */
  record(line: JournalLine, options?: { sync: boolean }): void {
    withLocalErrors(this.path, () => appendToJournal(join(this.path, JOURNAL), line, options));
    const next = afterLine(this.known.get(line.row), line);
    if (next) this.known.set(line.row, next);
  }

  /** Writes a result whole or not at all, over an earlier one of the same row. Throws LocalError. */
  write(name: string, text: string): void {
    withLocalErrors(this.path, () => {
      const drafts = join(this.path, STATE, "drafts");
      makeFolder(drafts);
      const draft = join(drafts, name);
      fs.writeFileSync(draft, text, { flush: true });
      fs.renameSync(draft, join(this.path, name));
    });
  }

  /** Unlocks the folder. */
  close(): void {
    this.#release();
  }
}

/**
 * A batch writes its journal before its results, so results without a journal belong to something else. A link in the
 * place of the state folder leads to another batch's journal.
 */
function refuseForeignFiles(out: string): void {
  if (statOf(join(out, STATE))?.isSymbolicLink())
    throw new LocalError(`${join(out, STATE)} is a link that this batch did not make; use another folder`);
  const journal = statOf(join(out, JOURNAL));
  const results = statOf(join(out, ResultsFile.NAME));
  if (results === undefined) return;
  if (journal?.isFile() && results.isFile()) return;
  throw new LocalError(
    `${out} holds a ${ResultsFile.NAME} that this batch did not write; use another folder`,
  );
}

function statOf(path: string): fs.Stats | undefined {
  return fs.lstatSync(path, { throwIfNoEntry: false });
}

async function acquire(path: string): Promise<() => void> {
  try {
    return await lock(join(path, STATE, "lock"));
  } catch (error) {
    if (!(error instanceof HeldError)) throw unusable(path, error);
    const { holder, advice } = error;
    throw new LocalError(`${path} is being written by another batch, ${holder}${advice}`, { cause: error });
  }
}

function unusable(path: string, cause: unknown): LocalError {
  return new LocalError(`the output folder ${path} cannot be used: ${inWords(cause)}`, { cause });
}

function withLocalErrors<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw unusable(path, error);
  }
}
