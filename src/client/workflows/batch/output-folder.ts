import * as fs from "node:fs";
import { basename, join } from "node:path";
import {
  appendLine,
  listNames,
  makeFolder,
  makeSharedFolder,
  readIfThere,
  replaceFile,
} from "../../../core/files/files.js";
import { createLocalError, LocalError, runLocally } from "../../../core/files/local-error.js";
import { HeldError, lock } from "../../../core/files/lock.js";
import { readJsonPath } from "../../../core/json/exact-json.js";
import { type JournalLine, type KnownRow, readJournal } from "./journal.js";
import { chooseStateWord, type RowState } from "./plan.js";

/** The batch's own files, apart from the results. */
const STATE = ".research-batch";
const JOURNAL = join(STATE, "journal.jsonl");

/** Reads the journal in an output folder without locking the folder. Throws LocalError. */
export function readKnownRows(out: string): Map<string, KnownRow> {
  return runWithLocalErrors(out, () => readJournal(join(out, JOURNAL)));
}

/** A batch's folder, locked: a file for each result, `results.jsonl` with a line for each ended row, the journal. */
export class OutputFolder {
  /** The rows in the journal when the folder was opened. */
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

  /** Creates the folder if it is missing. Rejects with LocalError if another process has locked it, or if it belongs to another batch. */
  static async open(path: string, isListed = true): Promise<OutputFolder> {
    runWithLocalErrors(path, () => {
      makeSharedFolder(path);
      refuseForeignFiles(path);
      makeFolder(join(path, STATE));
    });
    const release = await acquire(path);
    try {
      return runWithLocalErrors(path, () => {
        const folder = new OutputFolder(path, release, isListed);
        fs.rmSync(join(path, STATE, "drafts"), { recursive: true, force: true });
        return folder;
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Names in the folder that are not results of this batch. Throws LocalError. */
  get foreign(): ReadonlySet<string> {
    const ownStems = new Set(Array.from(this.known.values(), ({ stem }) => stem));
    const names = runWithLocalErrors(this.path, () => listNames(this.path));
    return new Set(names.filter((name) => !ownStems.has(name.replace(/\.(md|json)$/, ""))));
  }

  /** Whether a result's file is there. */
  has(name: string): boolean {
    return fs.existsSync(join(this.path, name));
  }

  /** Adds a line to the journal; with `sync` it is on the disk then. Throws LocalError. */
  record(line: JournalLine, { sync = false } = {}): void {
    runWithLocalErrors(this.path, () => appendLine(join(this.path, JOURNAL), JSON.stringify(line), { sync }));
  }

  /** Writes a file beside the journal, whole or not at all; returns its path. Throws LocalError. */
  mark(name: string, text: string): string {
    const path = join(this.path, STATE, name);
    runWithLocalErrors(this.path, () => replaceFile(path, text));
    return path;
  }

  /** Writes a result whole or not at all, over an earlier one of the same row. Throws LocalError. */
  write(name: string, text: string): void {
    runWithLocalErrors(this.path, () => writeWhole(this.path, join(this.path, name), text));
  }
}

/** Writes a file by a draft in the state folder of `out`, which has its modes from the umask. */
function writeWhole(out: string, path: string, text: string): void {
  const drafts = join(out, STATE, "drafts");
  makeFolder(drafts);
  const draft = join(drafts, basename(path));
  fs.writeFileSync(draft, text, { flush: true });
  fs.renameSync(draft, path);
}

/** Refuses results without a journal, and a linked state folder: both belong to another batch. */
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
    if (!(error instanceof HeldError))
      throw createLocalError(`the output folder ${path} cannot be used`, error);
    const { holder, advice } = error;
    throw new LocalError(`${path} is being written by another batch, ${holder}${advice}`, { cause: error });
  }
}

function runWithLocalErrors<T>(path: string, use: () => T): T {
  return runLocally(`the output folder ${path} cannot be used`, use);
}

/** `results.jsonl`: a line for each row that ended. */
export class ResultsFile {
  static readonly NAME = "results.jsonl";
  readonly #path: string;

  /** `out`: its folder. Each method throws LocalError. */
  constructor(private readonly out: string) {
    this.#path = join(out, ResultsFile.NAME);
  }

  add(state: RowState): void {
    const line = `${JSON.stringify(buildResultLine(state))}\n`;
    runWithLocalErrors(this.out, () => fs.appendFileSync(this.#path, line));
  }

  /** Writes the lines of rows that ended anew, and drops half a line, which a crash leaves. Other rows keep their lines. */
  update(states: readonly RowState[]): void {
    runWithLocalErrors(this.out, () => {
      const text = readIfThere(this.#path);
      const lines = new Map<string, string>();
      for (const line of text?.split("\n") ?? []) {
        const { row } = Object(readJsonPath(line));
        if (typeof row === "string") lines.set(row, line);
      }
      for (const state of states) {
        const isOver = state.standing !== "waiting" && state.standing !== "running";
        // The command that sent a row knew more of its error than the journal does.
        const isListed = Object(readJsonPath(lines.get(state.row.id) ?? "")).at === endOf(state);
        if (isOver && (state.check || !isListed))
          lines.set(state.row.id, JSON.stringify(buildResultLine(state)));
      }
      if (text !== undefined || lines.size > 0)
        writeWhole(this.out, this.#path, [...lines.values(), ""].join("\n"));
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
    at: endOf(state),
  };
}

function endOf({ standing, sentAt, endedAt }: RowState): string {
  return (standing === "unknown" ? sentAt : endedAt) ?? "";
}
