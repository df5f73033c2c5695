import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BatchJob } from "../../../client/workflows/batch/batch-context.js";
import type { BatchFolder } from "../../../client/workflows/batch/batch-folder.js";
import { chooseStateWord, type RowState } from "../../../client/workflows/batch/plan-rows.js";
import { readIfExists } from "../../../core/files/file-access.js";
import { LocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import { chooseStateClass, GENERATOR, renderPage } from "../../../core/markdown/html/page-template.js";
import { escapeHtml } from "../../../core/markdown/html/render-blocks.js";
import { type ResultOrigin, renderOrigin } from "../../../core/markdown/html/result-page.js";
import { formatCount, shortenLine } from "../../../core/text/format-text.js";
import { formatDuration } from "../../../core/text/time-format.js";
import { measureRowDuration } from "./format-batch.js";
import { buildRowOrigin, buildRowResultPage } from "./row-result.js";

const INDEX = "index.html";

/** Throws LocalError if a page would replace a file that no batch wrote. */
export function refuseForeignPages({ path: out }: BatchFolder, states: readonly RowState[]): void {
  for (const name of [INDEX, ...states.map(nameRowPage)]) {
    const text = readPageIfExists(out, name);
    if (text === undefined || text.slice(0, 2_000).includes(GENERATOR)) continue;
    throw new LocalError(`${out} contains ${name}, which this batch did not write; use another folder`);
  }
}

/** Writes the index with this title, and the page of each row. Rejects with LocalError. */
export async function writeBatchPages(job: BatchJob, title: string): Promise<void> {
  const { folder, states } = job;
  const write = (name: string, html: string) => {
    // Each write waits for the disk, and most rows of a resumed batch are unchanged.
    if (readPageIfExists(folder.path, name) !== html) folder.write(name, html);
  };
  for (const state of states) write(nameRowPage(state), await buildPageOrReason(job, state));
  write(INDEX, renderBatchIndex(title, states));
}

/** Returns the file name of a row's page. A row called `index` gets another name. */
function nameRowPage({ stem, row }: RowState): string {
  return stem.toLowerCase() === "index" ? `${stem}-${row.digest.slice(0, 8)}.html` : `${stem}.html`;
}

async function buildPageOrReason(job: BatchJob, state: RowState): Promise<string> {
  const { file, error } = state;
  return file !== undefined && existsSync(join(job.folder.path, file))
    ? buildRowResultPage(job, state)
    : buildRowPage(chooseStateWord(state), error?.message, buildRowOrigin(state));
}

function readPageIfExists(out: string, name: string): string | undefined {
  const path = join(out, name);
  return wrapFileErrors(`${path} could not be read`, () => readIfExists(path));
}

/** Maximum length of a question in the table; the page of the row shows all of it. */
const LONGEST_QUESTION = 300;

export function renderBatchIndex(title: string, states: readonly RowState[]): string {
  const head = ["Line", "Question", "State", "Took"].map((name) => `<th>${name}</th>`).join("");
  const table = `<div class="table rows"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>${states.map(renderIndexRow).join("\n")}</tbody>\n</table></div>`;
  const header = `<header><h1 dir="auto">${escapeHtml(title)}</h1>\n<p class="summary">${formatRowSummary(states)}</p></header>`;
  return renderPage({ title, body: `${header}\n<main>\n${table}\n</main>`, wide: true });
}

function buildRowPage(state: string, reason: string | undefined, source: ResultOrigin): string {
  const why = reason === undefined ? "" : `\n<div class="plain" dir="auto">${escapeHtml(reason)}</div>`;
  const word = `<p><span class="state ${chooseStateClass(state)}">${escapeHtml(state)}</span></p>`;
  return renderPage({
    title: source.question ?? state,
    body: `<main>\n<h1 class="question" dir="auto">${escapeHtml(source.question ?? state)}</h1>\n${word}${why}\n</main>\n${renderOrigin(source)}`,
  });
}

function renderIndexRow(state: RowState): string {
  const { line, body } = state.row;
  const took = measureRowDuration(state);
  const cells = [
    `<td class="right">${line}</td>`,
    `<td dir="auto"><a href="${escapeHtml(encodeURIComponent(nameRowPage(state)))}">${escapeHtml(shortenLine(body.prompt, LONGEST_QUESTION))}</a></td>`,
    `<td><span class="state ${chooseStateClass(chooseStateWord(state))}">${escapeHtml(chooseStateWord(state))}</span></td>`,
    `<td>${took === undefined ? "" : formatDuration(took)}</td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

function formatRowSummary(states: readonly RowState[]): string {
  const counts = new Map<string, number>();
  for (const state of states)
    counts.set(chooseStateWord(state), (counts.get(chooseStateWord(state)) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => `${count} ${escapeHtml(word)}`);
  return [formatCount(states.length, "row"), ...parts].join(" · ");
}
