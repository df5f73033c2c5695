import * as fs from "node:fs";
import { join } from "node:path";
import { readIfThere } from "../../../store/files.js";
import { type RowState, stateWord } from "../plan.js";

/** `results.jsonl`: a line for each row that ended. */
export class ResultsFile {
  static readonly NAME = "results.jsonl";
  readonly #path: string;
  readonly #wrapErrors: <T>(use: () => T) => T;

  /** `wrapErrors` gives errors of the file system the form they have for the folder `out`. */
  constructor(out: string, wrapErrors: <T>(out: string, use: () => T) => T) {
    this.#path = join(out, ResultsFile.NAME);
    this.#wrapErrors = (use) => wrapErrors(out, use);
  }

  add(state: RowState): void {
    this.#wrapErrors(() => fs.appendFileSync(this.#path, `${JSON.stringify(resultLine(state))}\n`));
  }

  /** Adds the lines that a crash lost. The journal is written first, so `states` knows of every row. */
  complete(states: readonly RowState[]): void {
    const listed = this.#listed();
    for (const state of states) {
      const isOver = state.standing !== "waiting" && state.standing !== "running";
      if (isOver && listed.get(state.row.id) !== endOf(state)) this.add(state);
    }
  }

  /** Removes half a line at the end, which a crash may leave; its row gets a whole line again. */
  cutTornLine(): void {
    this.#wrapErrors(() => {
      if (!fs.existsSync(this.#path)) return;
      const bytes = fs.readFileSync(this.#path);
      const end = bytes.lastIndexOf(0x0a) + 1;
      if (end < bytes.length) fs.truncateSync(this.#path, end);
    });
  }

  /** The rows that have a line, with the time in the last one. */
  #listed(): Map<string, unknown> {
    const text = this.#wrapErrors(() => readIfThere(this.#path) ?? "");
    const listed = new Map<string, unknown>();
    for (const line of text.split("\n")) {
      const { row, at } = parseObject(line);
      if (typeof row === "string") listed.set(row, at);
    }
    return listed;
  }
}

/** The line of a row: what was asked, how it ended, and in which file the result is. */
export function resultLine(state: RowState) {
  const { row, requestId, localId, standing, file, error } = state;
  return {
    row: row.id,
    key: row.key ?? null,
    line: row.line,
    prompt: row.body.prompt,
    request_id: requestId ?? null,
    ...(standing === "unknown" && { local_id: localId ?? null }),
    status: stateWord(state),
    file: file ?? null,
    ...(error && { error }),
    at: endOf(state),
  };
}

function endOf({ standing, sentAt, endedAt }: RowState): string {
  return (standing === "unknown" ? sentAt : endedAt) ?? "";
}

function parseObject(line: string): { row?: unknown; at?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
