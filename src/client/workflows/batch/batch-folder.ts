import * as fs from "node:fs";
import { basename, join } from "node:path";
import {
  appendLine,
  listFolder,
  makePrivateFolder,
  makeSharedFolder,
  readIfExists,
  replaceFile,
} from "../../../core/files/file-access.js";
import { acquireLock, LockHeldError } from "../../../core/files/file-lock.js";
import { createLocalError, LocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import { tryParseExact } from "../../../core/json/exact-json.js";
import { type JournalLine, type KnownRow, readJournal } from "./batch-journal.js";
import { chooseStateWord, type RowState } from "./plan-rows.js";

/** The folder for the batch's own files, which are not results. */
const STATE = ".research-batch";
const JOURNAL = join(STATE, "journal.jsonl");

/** Reads the journal in an output folder without locking the folder. Throws LocalError. */
export function readKnownRows(out: string): Map<string, KnownRow> {
  return runWithLocalErrors(out, () => readJournal(join(out, JOURNAL)));
}

/** The locked folder of a batch: a file for each result, `results.jsonl` with a line for each ended row, and the journal. */
export class BatchFolder {
  /** The rows that the journal had when the folder was opened. */
  readonly known: Map<string, KnownRow>;
  readonly results: ResultsFile;

  private constructor(
    readonly path: string,
    /** Unlocks the folder. */
    readonly close: () => void,
    isListed: boolean,
  ) {
    this.known = readKnownRows(path);
    this.results = new ResultsFile(isListed ? path : join(path, STATE));
  }

  /** Opens and locks a folder; creates a missing one. Rejects with LocalError if another process has locked it or another batch owns it. */
  static async open(path: string, isListed = true): Promise<BatchFolder> {
    runWithLocalErrors(path, () => {
      makeSharedFolder(path);
      refuseForeignFiles(path);
      makePrivateFolder(join(path, STATE));
    });
    const release = await lockFolder(path);
    try {
      return runWithLocalErrors(path, () => {
        const folder = new BatchFolder(path, release, isListed);
        fs.rmSync(join(path, STATE, "drafts"), { recursive: true, force: true });
        return folder;
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The names in the folder that are not results of this batch. Throws LocalError. */
  get foreign(): ReadonlySet<string> {
    const ownStems = new Set(Array.from(this.known.values(), ({ stem }) => stem));
    const names = runWithLocalErrors(this.path, () => listFolder(this.path));
    return new Set(names.filter((name) => !ownStems.has(name.replace(/\.(md|json)$/, ""))));
  }

  /** Returns whether the file of a result exists. */
  has(name: string): boolean {
    return fs.existsSync(join(this.path, name));
  }

  /** Appends a line to the journal; with `sync`, also flushes it to disk. Throws LocalError. */
  record(line: JournalLine, { sync = false } = {}): void {
    runWithLocalErrors(this.path, () => appendLine(join(this.path, JOURNAL), JSON.stringify(line), { sync }));
  }

  /** Writes a file beside the journal, completely or not at all. Returns its path. Throws LocalError. */
  mark(name: string, text: string): string {
    const path = join(this.path, STATE, name);
    runWithLocalErrors(this.path, () => replaceFile(path, text));
    return path;
  }

  /** Writes a result completely or not at all, and replaces an earlier one of the same row. Throws LocalError. */
  write(name: string, text: string): void {
    runWithLocalErrors(this.path, () => writeFileWhole(this.path, join(this.path, name), text));
  }
}

/** Writes a file through a draft in the state folder of `out`. The umask sets its mode. */
function writeFileWhole(out: string, path: string, text: string): void {
  const drafts = join(out, STATE, "drafts");
  makePrivateFolder(drafts);
  const draft = join(drafts, basename(path));
  fs.writeFileSync(draft, text, { flush: true });
  fs.renameSync(draft, path);
}

/** Throws LocalError for results without a journal, and for a state folder that is a link: both belong to another batch. */
function refuseForeignFiles(out: string): void {
  if (statIfExists(join(out, STATE))?.isSymbolicLink())
    throw new LocalError(`${join(out, STATE)} is a link that this batch did not make; use another folder`);
  const journal = statIfExists(join(out, JOURNAL));
  const results = statIfExists(join(out, ResultsFile.NAME));
  if (results === undefined) return;
  if (journal?.isFile() && results.isFile()) return;
  throw new LocalError(
    `${out} holds a ${ResultsFile.NAME} that this batch did not write; use another folder`,
  );
}

function statIfExists(path: string): fs.Stats | undefined {
  return fs.lstatSync(path, { throwIfNoEntry: false });
}

async function lockFolder(path: string): Promise<() => void> {
  try {
    return await acquireLock(join(path, STATE, "lock"));
  } catch (error) {
    if (!(error instanceof LockHeldError))
      throw createLocalError(`the output folder ${path} cannot be used`, error);
    const { holder, advice } = error;
    throw new LocalError(`${path} is being written by another batch, ${holder}${advice}`, { cause: error });
  }
}

function runWithLocalErrors<T>(path: string, use: () => T): T {
  return wrapFileErrors(`the output folder ${path} cannot be used`, use);
}

/** The file `results.jsonl`, with a line for each row that ended. */
export class ResultsFile {
  static readonly NAME = "results.jsonl";
  readonly #path: string;

  /** `out`: the folder that contains the file. Each method throws LocalError. */
  constructor(private readonly out: string) {
    this.#path = join(out, ResultsFile.NAME);
  }

  add(state: RowState): void {
    const line = `${JSON.stringify(buildResultLine(state))}\n`;
    runWithLocalErrors(this.out, () => fs.appendFileSync(this.#path, line));
  }

  /** Rewrites the lines of ended rows, and drops an incomplete line, which a crash leaves. Keeps the lines of all other rows. */
  update(states: readonly RowState[]): void {
    runWithLocalErrors(this.out, () => {
      const text = readIfExists(this.#path);
      const lines = new Map<string, string>();
      for (const line of text?.split("\n") ?? []) {
        const { row } = Object(tryParseExact(line));
        if (typeof row === "string") lines.set(row, line);
      }
      for (const state of states) {
        const isOver = state.standing !== "waiting" && state.standing !== "running";
        // The command that sent a row knew more about its error than the journal does, so keep its line.
        const isListed = Object(tryParseExact(lines.get(state.row.id) ?? "")).at === chooseRowTime(state);
        if (isOver && (state.check || !isListed))
          lines.set(state.row.id, JSON.stringify(buildResultLine(state)));
      }
      if (text !== undefined || lines.size > 0)
        writeFileWhole(this.out, this.#path, [...lines.values(), ""].join("\n"));
    });
  }
}

/** Builds the line of a row: its question, its outcome, and the file of its result. */
export function buildResultLine(state: RowState) {
  const { row, requestId, localId, standing, file, error, check } = state;
  return {
    row: row.id,
    key: row.key ?? null,
    line: row.line,
    prompt: row.body.prompt,
    request_id: requestId ?? null,
    ...(standing === "unknown" && { local_id: localId ?? null }),
    status: chooseStateWord(state),
    file: file ?? null,
    ...(error && { error }),
    ...(check && { check }),
    at: chooseRowTime(state),
  };
}

function chooseRowTime({ standing, sentAt, endedAt }: RowState): string {
  return (standing === "unknown" ? sentAt : endedAt) ?? "";
}
