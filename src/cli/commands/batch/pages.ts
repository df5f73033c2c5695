import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BatchJob } from "../../../client/workflows/batch/context.js";
import type { OutputFolder } from "../../../client/workflows/batch/output-folder.js";
import { type RowState, stateWord } from "../../../client/workflows/batch/plan.js";
import { readIfThere } from "../../../ground/files/files.js";
import { LocalError, orLocalError } from "../../../ground/files/local-error.js";
import { GENERATOR } from "../../../ground/markdown/html/page.js";
import { formatDuration } from "../../../ground/text/duration.js";
import { type BatchRow, batchIndex, rowPage } from "./html.js";
import { pageOfRow } from "./row-result.js";
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

/** Makes the index and the page of each row anew. Rejects with LocalError. */
export async function writePages(job: BatchJob, { title, origin }: BatchSource): Promise<void> {
  const { folder, states } = job;
  const write = (name: string, html: string) => {
    // Each write waits for the disk, and most rows of a batch that goes on are as they were.
    if (read(folder.path, name) !== html) folder.write(name, html);
  };
  for (const state of states) write(pageName(state), await pageOf(job, state, origin));
  write(INDEX, batchIndex(title, states.map(rowOf)));
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

async function pageOf(job: BatchJob, state: RowState, origin: string): Promise<string> {
  const { row, requestId, createdAt, endedAt, file, error } = state;
  const source = {
    ...{ question: row.body.prompt, requestId, origin },
    createdAt: createdAt ?? undefined,
    completedAt: state.standing === "done" ? endedAt : undefined,
  };
  return file !== undefined && existsSync(join(job.folder.path, file))
    ? pageOfRow(job, state, source)
    : rowPage(stateWord(state), error?.message, source);
}

function read(out: string, name: string): string | undefined {
  const path = join(out, name);
  return orLocalError(`${path} could not be read`, () => readIfThere(path));
}
