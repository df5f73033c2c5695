import { join } from "node:path";
import type { OutputFolder } from "../../../client/workflows/batch/output-folder.js";
import { type RowState, stateWord } from "../../../client/workflows/batch/plan.js";
import { readIfThere } from "../../../ground/files/files.js";
import { LocalError, orLocalError } from "../../../ground/files/local-error.js";
import { GENERATOR } from "../../../ground/markdown/html/page.js";
import { resultPage } from "../../../ground/markdown/html/result-page.js";
import { formatDuration } from "../../../ground/text/duration.js";
import { type BatchRow, batchIndex, rowPage } from "./html.js";
import { tookMs } from "./view.js";

const INDEX = "index.html";

export interface BatchSource {
  /** The title of the index. */
  title: string;
  /** Scheme, host and port of the service. */
  origin: string;
}

/** Throws LocalError if a page would overwrite a file of the folder that no batch made. */
export function checkPages({ path: out }: OutputFolder, states: readonly RowState[]): void {
  for (const name of [INDEX, ...states.map(pageName)]) {
    const text = read(out, name);
    if (text === undefined || text.slice(0, 2_000).includes(GENERATOR)) continue;
    throw new LocalError(`${out} holds ${name} that this batch did not write; use another folder`);
  }
}

/** Makes the index and the page of each row anew. Throws LocalError. */
export function writePages(folder: OutputFolder, states: readonly RowState[], source: BatchSource): void {
  const write = (name: string, html: string) => {
    // Each write waits for the disk, and most rows of a batch that goes on are as they were.
    if (read(folder.path, name) !== html) folder.write(name, html);
  };
  for (const state of states) write(pageName(state), pageOf(folder.path, state, source.origin));
  write(INDEX, batchIndex(source.title, states.map(rowOf)));
}

/** The index has its name first. */
function pageName({ stem, row }: RowState): string {
  return stem.toLowerCase() === "index" ? `${stem}-${row.digest.slice(0, 8)}.html` : `${stem}.html`;
}

function rowOf(state: RowState): BatchRow {
  const took = tookMs(state);
  return {
    line: state.row.line,
    question: state.row.body.prompt,
    state: stateWord(state),
    took: took === undefined ? undefined : formatDuration(took),
    page: pageName(state),
  };
}

function pageOf(out: string, state: RowState, origin: string): string {
  const { row, requestId, createdAt, endedAt, file, error } = state;
  const source = {
    ...{ question: row.body.prompt, requestId, origin },
    createdAt: createdAt ?? undefined,
    completedAt: state.standing === "done" ? endedAt : undefined,
  };
  const text = file && read(out, file);
  if (file === undefined || text === undefined) return rowPage(stateWord(state), error?.message, source);
  return resultPage({ kind: file.endsWith(".json") ? "json" : "markdown", text }, source);
}

function read(out: string, name: string): string | undefined {
  const path = join(out, name);
  return orLocalError(`${path} could not be read`, () => readIfThere(path));
}
