import { describeRow } from "../../../app/open-batch.js";
import type { BatchForecast } from "../../../client/workflows/batch/estimate-batch.js";
import {
  chooseStateWord,
  type RowState,
  type StandingCounts,
} from "../../../client/workflows/batch/plan-rows.js";
import { parseEpochMs } from "../../../core/clock.js";
import { formatCount } from "../../../core/text/format-text.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { measureColumns, wrapAtWords } from "../../../core/text/text-width.js";
import { formatDuration } from "../../../core/text/time-format.js";
import { buildWatchJson, type WatchLine } from "../../requests/format-progress.js";
import { formatStatusWord } from "../../requests/show-states.js";
import { alignRow, fitColumns } from "../../terminal/align-columns.js";
import type { Style } from "../../terminal/style.js";

const BAR_WIDTH = 20;

/** Formats the live line: a bar, the rows in each state, the create calls left this hour, when the next is allowed, and the end. */
export function formatLiveLine(
  counts: StandingCounts,
  forecast: BatchForecast,
  now: number,
  style: Style,
): string {
  const total = sumCounts(counts);
  const ended = counts.done + counts.failed + counts.refused + counts.stopped;
  const full = total === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * ended) / total);
  const bar = style.good("█".repeat(full)) + style.dim("░".repeat(BAR_WIDTH - full));
  return `${bar} ${formatBatchProgress(counts, forecast, now, style)}`;
}

/** Formats the live line without the bar. */
export function formatBatchProgress(
  counts: StandingCounts,
  forecast: BatchForecast,
  now: number,
  style: Style,
): string {
  const { left, nextAt, endsAt } = forecast;
  const isAhead = nextAt !== undefined && nextAt > now && counts.waiting > 0;
  const hour = [
    ...(left === undefined ? [] : [`${left} creates left this hour`]),
    ...(isAhead ? [`next slot ${formatClock(nextAt, now)}`] : []),
    ...(endsAt === undefined ? [] : [`end about ${formatClock(endsAt, now)}`]),
  ].join(", ");
  return formatRowCounts(counts, style) + (hour && style.dim(`; ${hour}`));
}

/** Formats counts such as `12 of 40 done, 3 running, …`: always the first three, and the others if they are above zero. */
export function formatRowCounts(counts: StandingCounts, style: Style): string {
  const { done, running, waiting, failed, refused, stopped, unknown } = counts;
  const formatRare = (count: number, word: string) => (count > 0 ? [style.bad(`${count} ${word}`)] : []);
  return [
    `${done} of ${sumCounts(counts)} done`,
    `${running} running`,
    `${waiting} waiting`,
    ...formatRare(failed, "failed"),
    ...formatRare(refused, "refused"),
    ...formatRare(stopped, "stopped"),
    ...formatRare(unknown, "unknown"),
  ].join(", ");
}

/** Formats a time of day in the local time zone, with the date if that is not today. Both times are epoch milliseconds. */
function formatClock(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "never";
  const padTwo = (value: number) => String(value).padStart(2, "0");
  const time = `${padTwo(date.getHours())}:${padTwo(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())} ${time}`;
}

/** Formats a change of a row for output without a live line, with the reason if the row FAILED. */
export function formatRowChange(state: RowState, counts: StandingCounts): string {
  const { row, standing, status, requestId, error } = state;
  const why = standing === "failed" && error ? `: ${escapeLine(error.message)}` : "";
  const id = status === "PENDING" && requestId ? ` (${requestId})` : "";
  const ended = sumCounts(counts) - counts.running - counts.waiting - counts.unknown;
  return `[${ended}/${sumCounts(counts)}] ${escapeLine(describeRow(row))}${id} is ${escapeLine(chooseStateWord(state))}${why}`;
}

/** Formats an ended row for scripts: `request_id<TAB>STATUS<TAB>name<TAB>file`, with `-` for a missing value. */
export function formatRowLine(state: RowState, style: Style): string {
  const id = state.requestId ?? (state.standing === "unknown" ? state.localId : undefined) ?? "-";
  return [
    id,
    formatStatusWord(chooseStateWord(state), style),
    escapeLine(describeRow(state.row)),
    state.file ?? "-",
  ].join("\t");
}

/** Builds the JSON for a change of a row. */
export function buildRowJson(state: RowState, moment: Omit<WatchLine, "requestId" | "status">) {
  const { row, requestId = null, localId, file, error, check } = state;
  return {
    key: row.key ?? null,
    line: row.line,
    ...buildWatchJson({ requestId, status: chooseStateWord(state), ...moment }),
    ...(state.standing === "unknown" && { local_id: localId }),
    ...(file && { file }),
    ...(check && { check }),
    ...(error && { error }),
  };
}

/** Builds the JSON of the summary. */
export function buildSummaryJson(counts: StandingCounts, exitCode: number, cost?: number) {
  const spent = cost === undefined ? {} : { cost_dollars: cost };
  return { summary: { rows: sumCounts(counts), ...counts, ...spent, exit_code: exitCode } };
}

/** What a dry run shows. `limit`: create calls allowed per hour; undefined if unknown. `now`: epoch milliseconds. */
export type DryRun = BatchForecast & { counts: StandingCounts; limit: number | undefined; now: number };

/** Formats the forecast of a batch. */
export function formatEstimate({ counts, limit = Infinity, now, lastSentAt, endsAt }: DryRun): string {
  const { waiting, done, running, unknown, failed, refused, stopped } = counts;
  const before = { done, running, unknown, failed, refused, stopped };
  const rest = Object.entries(before).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  const lines = [`${formatCount(sumCounts(counts), "row")}: ${[`${waiting} to send`, ...rest].join(", ")}`];
  if (waiting > 0 && lastSentAt === undefined)
    lines.push("without a limit the end is not known: --per-hour N sets one");
  if (lastSentAt !== undefined) {
    const pace = limit === Infinity ? "without a limit" : `at ${limit} an hour`;
    const when = new Date(lastSentAt).toISOString();
    lines.push(`${pace} it takes ${formatDuration(lastSentAt - now)} until the last one is sent, at ${when}`);
  }
  if (endsAt !== undefined)
    lines.push(`by the usual length of a run, it ends at about ${new Date(endsAt).toISOString()}`);
  return `${lines.join("\n")}\n`;
}

/** Formats prompts, with the row's name and model, if any: one line each, on a terminal in columns. */
export function formatPrompts(
  rows: readonly { name: string; model?: string | undefined; prompt: string }[],
  columns: number | undefined,
): string {
  const width = measureNameWidth(rows.map(({ name }) => name));
  const lines = rows.map(({ name, model = "", prompt }) =>
    columns === undefined
      ? fitColumns(escapeLine(`${name}${model && ` (${model})`}: ${prompt}`), 100)
      : alignRow([name, ...(model ? [model] : []), prompt].map(escapeLine), [width], columns),
  );
  return lines.map((line) => `${line}\n`).join("");
}

/** Maximum width of a row's name in columns. A longer name is shortened, so that the question stays visible. */
const LONGEST_NAME = 24;

/** Returns the width in columns that the names of rows need. */
export function measureNameWidth(names: readonly string[]): number {
  return Math.min(LONGEST_NAME, Math.max(...names.map((name) => measureColumns(escapeLine(name)))));
}

/** Formats an ended row for people: its name, state, duration and question, and the reason if it FAILED. */
export function formatRowForPeople(state: RowState, names: number, columns: number, style: Style): string {
  const took = measureRowDuration(state);
  const time = (took === undefined ? "" : formatDuration(took)).padStart(7);
  const cells = [
    describeRow(state.row),
    formatStatusWord(chooseStateWord(state), style),
    time,
    escapeLine(state.row.body.prompt),
  ];
  const why = state.standing === "failed" && state.error ? `\n  ${escapeLine(state.error.message)}` : "";
  return alignRow(cells, [names, 10], columns) + wrapAtWords(why, columns, 2);
}

/** Returns how long a row took, in milliseconds by this machine's clock, because the service's clock may differ. */
export function measureRowDuration({ sentAt, createdAt, endedAt }: RowState): number | undefined {
  const [startedAt, until] = [parseEpochMs(sentAt ?? createdAt), parseEpochMs(endedAt)];
  return startedAt === undefined || until === undefined ? undefined : until - startedAt;
}

/** Builds the JSON for the forecast of a batch. */
export function buildEstimateJson({ counts, limit = Infinity, now, lastSentAt, endsAt }: DryRun) {
  const { waiting, ...rest } = counts;
  const formatDateOrNull = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return {
    rows: sumCounts(counts),
    to_send: waiting,
    ...rest,
    limit: limit === Infinity ? null : limit,
    takes_ms: lastSentAt === undefined ? null : lastSentAt - now,
    last_sent_at: formatDateOrNull(lastSentAt),
    ends_at: formatDateOrNull(endsAt),
  };
}

function sumCounts(counts: StandingCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Puts the name of a row before a message about it. */
export function addRowName({ row }: RowState, message: string): string {
  return `${describeRow(row)}: ${message}`;
}
