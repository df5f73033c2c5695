import { wordOf } from "../commands/batch/view.js";
import type { Failure } from "../failure.js";
import type { BatchFolder } from "./folder.js";
import type { RowError } from "./journal.js";
import type { RowState } from "./plan.js";

/** What of a failure is kept with its row. */
export function rowError({ code, message, exit_code, http_status, hint }: Failure): RowError {
  return { code, message, exit_code, ...(http_status && { http_status }), ...(hint && { hint }) };
}

/** The line of a row in `results.jsonl`: what was asked, what became of it, and in which file the result is. */
export function resultLine(state: RowState) {
  const { row, requestId, localId, standing, file, error } = state;
  return {
    row: row.id,
    key: row.key ?? null,
    line: row.line,
    prompt: row.body.prompt,
    request_id: requestId ?? null,
    ...(standing === "unknown" && { local_id: localId ?? null }),
    status: wordOf(state),
    file: file ?? null,
    ...(error && { error }),
    at: endOf(state),
  };
}

/** Adds what a crash kept from `results.jsonl`. The journal is written first, so it knows of every row. */
export function completeResults(folder: BatchFolder, states: readonly RowState[]): void {
  const listed = folder.listed();
  for (const state of states) {
    const isOver = state.standing !== "waiting" && state.standing !== "running";
    if (isOver && listed.get(state.row.id) !== endOf(state)) folder.addResult(resultLine(state));
  }
}

function endOf({ standing, sentAt, endedAt }: RowState): string {
  return (standing === "unknown" ? sentAt : endedAt) ?? "";
}
