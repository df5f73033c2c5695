import { escapeHtml } from "../../../ground/markdown/html/blocks.js";
import { page, stateClass } from "../../../ground/markdown/html/page.js";
import { originFooter, type ResultOrigin } from "../../../ground/markdown/html/result-page.js";
import { counted, shortLine } from "../../../ground/text/phrases.js";

/** A row of a batch, whatever became of it. */
export interface BatchRow {
  /** Its place in the input, from 1. */
  line: number;
  question: string;
  /** The state of its request, or WAITING, REFUSED or UNKNOWN. */
  state: string;
  /** How long it took, in words; undefined if it has not ended. */
  took: string | undefined;
  /** The file name of its page, in the same folder. */
  page: string;
}

/** In a table, a longer question is cut; its page has all of it. */
const LONGEST_QUESTION = 300;

/** All rows of a batch as a page, with links to theirs. */
export function batchIndex(title: string, rows: readonly BatchRow[]): string {
  const head = ["Line", "Question", "State", "Took"].map((name) => `<th>${name}</th>`).join("");
  const table = `<div class="table rows"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>${rows.map(tableRow).join("\n")}</tbody>\n</table></div>`;
  const header = `<header><h1 dir="auto">${escapeHtml(title)}</h1>\n<p class="summary">${summary(rows)}</p></header>`;
  return page({ title, body: `${header}\n<main>\n${table}\n</main>`, wide: true });
}

/** The page of a row that has no result: its question, its state, and why. */
export function rowPage(state: string, reason: string | undefined, source: ResultOrigin): string {
  const why = reason === undefined ? "" : `\n<div class="plain" dir="auto">${escapeHtml(reason)}</div>`;
  const word = `<p><span class="state ${stateClass(state)}">${escapeHtml(state)}</span></p>`;
  return page({
    title: source.question ?? state,
    body: `<main>\n<h1 class="question" dir="auto">${escapeHtml(source.question ?? state)}</h1>\n${word}${why}\n</main>\n${originFooter(source)}`,
  });
}

function tableRow({ line, question, state, took, page }: BatchRow): string {
  const cells = [
    `<td class="right">${line}</td>`,
    `<td dir="auto"><a href="${escapeHtml(encodeURIComponent(page))}">${escapeHtml(shortLine(question, LONGEST_QUESTION))}</a></td>`,
    `<td><span class="state ${stateClass(state)}">${escapeHtml(state)}</span></td>`,
    `<td>${escapeHtml(took ?? "")}</td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

function summary(rows: readonly BatchRow[]): string {
  const counts = new Map<string, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].map(([state, count]) => `${count} ${escapeHtml(state)}`);
  return [counted(rows.length, "row"), ...parts].join(" · ");
}
