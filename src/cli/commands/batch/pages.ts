import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BatchJob } from "../../../client/workflows/batch/context.js";
import type { OutputFolder } from "../../../client/workflows/batch/output-folder.js";
import { type RowState, stateWord } from "../../../client/workflows/batch/plan.js";
import { readIfThere } from "../../../core/files/files.js";
import { LocalError, orLocalError } from "../../../core/files/local-error.js";
import { escapeHtml } from "../../../core/markdown/html/blocks.js";
import { GENERATOR, page, stateClass } from "../../../core/markdown/html/page.js";
import { originFooter, type ResultOrigin } from "../../../core/markdown/html/result-page.js";
import { formatDuration } from "../../../core/text/duration.js";
import { counted, shortLine } from "../../../core/text/phrases.js";
import { pageOfRow, sourceOf } from "./row-result.js";
import { tookMs } from "./view.js";

const INDEX = "index.html";

/** Throws LocalError if a page would overwrite a file of the folder that no batch made. */
export function checkPages({ path: out }: OutputFolder, states: readonly RowState[]): void {
  for (const name of [INDEX, ...states.map(pageName)]) {
    const text = read(out, name);
    if (text === undefined || text.slice(0, 2_000).includes(GENERATOR)) continue;
    throw new LocalError(`${out} holds ${name} that this batch did not write; use another folder`);
  }
}

/** Makes the index, of this title, and the page of each row anew. Rejects with LocalError. */
export async function writePages(job: BatchJob, title: string): Promise<void> {
  const { folder, states } = job;
  const write = (name: string, html: string) => {
    // Each write waits for the disk, and most rows of a batch that goes on are as they were.
    if (read(folder.path, name) !== html) folder.write(name, html);
  };
  for (const state of states) write(pageName(state), await pageOf(job, state));
  write(INDEX, batchIndex(title, states));
}

/** The index has its name first. */
function pageName({ stem, row }: RowState): string {
  return stem.toLowerCase() === "index" ? `${stem}-${row.digest.slice(0, 8)}.html` : `${stem}.html`;
}

async function pageOf(job: BatchJob, state: RowState): Promise<string> {
  const { file, error } = state;
  return file !== undefined && existsSync(join(job.folder.path, file))
    ? pageOfRow(job, state)
    : rowPage(stateWord(state), error?.message, sourceOf(state));
}

function read(out: string, name: string): string | undefined {
  const path = join(out, name);
  return orLocalError(`${path} could not be read`, () => readIfThere(path));
}

/** In a table, a longer question is cut; its page has all of it. */
const LONGEST_QUESTION = 300;

export function batchIndex(title: string, states: readonly RowState[]): string {
  const head = ["Line", "Question", "State", "Took"].map((name) => `<th>${name}</th>`).join("");
  const table = `<div class="table rows"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>${states.map(tableRow).join("\n")}</tbody>\n</table></div>`;
  const header = `<header><h1 dir="auto">${escapeHtml(title)}</h1>\n<p class="summary">${summary(states)}</p></header>`;
  return page({ title, body: `${header}\n<main>\n${table}\n</main>`, wide: true });
}

function rowPage(state: string, reason: string | undefined, source: ResultOrigin): string {
  const why = reason === undefined ? "" : `\n<div class="plain" dir="auto">${escapeHtml(reason)}</div>`;
  const word = `<p><span class="state ${stateClass(state)}">${escapeHtml(state)}</span></p>`;
  return page({
    title: source.question ?? state,
    body: `<main>\n<h1 class="question" dir="auto">${escapeHtml(source.question ?? state)}</h1>\n${word}${why}\n</main>\n${originFooter(source)}`,
  });
}

function tableRow(state: RowState): string {
  const { line, body } = state.row;
  const took = tookMs(state);
  const cells = [
    `<td class="right">${line}</td>`,
    `<td dir="auto"><a href="${escapeHtml(encodeURIComponent(pageName(state)))}">${escapeHtml(shortLine(body.prompt, LONGEST_QUESTION))}</a></td>`,
    `<td><span class="state ${stateClass(stateWord(state))}">${escapeHtml(stateWord(state))}</span></td>`,
    `<td>${took === undefined ? "" : formatDuration(took)}</td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

function summary(states: readonly RowState[]): string {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(stateWord(state), (counts.get(stateWord(state)) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => `${count} ${escapeHtml(word)}`);
  return [counted(states.length, "row"), ...parts].join(" · ");
}
