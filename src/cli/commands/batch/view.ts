import { safeLine } from "../../../text/safe-text.js";
import type { Counts } from "../../batch/board.js";
import type { RowState } from "../../batch/plan.js";
import { nameOf } from "../../batch/row.js";
import { statusWord } from "../../requests/status-text.js";
import { formatDuration } from "../../terminal/durations.js";
import type { Style } from "../../terminal/style.js";

const BAR_WIDTH = 20;

/** What is known of the hours ahead, epoch milliseconds; absent where it is not. */
export interface Outlook {
  left?: number | undefined;
  nextAt?: number | undefined;
  endsAt?: number | undefined;
}

/** The live line: a bar, how many rows stand where, what is left of the hour, the next slot and the end. */
export function liveBatch(counts: Counts, outlook: Outlook, now: number, style: Style): string {
  const total = sum(counts);
  const ended = counts.done + counts.failed + counts.refused + counts.stopped;
  const full = total === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * ended) / total);
  const bar = style.good("█".repeat(full)) + style.dim("░".repeat(BAR_WIDTH - full));
  return `${bar} ${progressText(counts, outlook, now, style)}`;
}

/** The same without the bar. */
export function progressText(counts: Counts, outlook: Outlook, now: number, style: Style): string {
  const { left, nextAt, endsAt } = outlook;
  const isAhead = nextAt !== undefined && nextAt > now && counts.waiting > 0;
  const hour = [
    ...(left === undefined ? [] : [`${left} creates left this hour`]),
    ...(isAhead ? [`next slot ${clock(nextAt, now)}`] : []),
    ...(endsAt === undefined ? [] : [`end about ${clock(endsAt, now)}`]),
  ].join(", ");
  return countsText(counts, style) + (hour && style.dim(`; ${hour}`));
}

/** `12 of 40 done, 3 running, …`; what is always of interest, and the rest where there is any. */
export function countsText(counts: Counts, style: Style): string {
  const { done, running, waiting, failed, refused, stopped, unknown } = counts;
  const rare = (count: number, word: string) => (count > 0 ? [style.bad(`${count} ${word}`)] : []);
  return [
    `${done} of ${sum(counts)} done`,
    `${running} running`,
    `${waiting} waiting`,
    ...rare(failed, "failed"),
    ...rare(refused, "refused"),
    ...rare(stopped, "stopped"),
    ...rare(unknown, "unknown"),
  ].join(", ");
}

/** A time of day as this machine's clocks show it, with the date where it is not today's. */
function clock(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "never";
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** The state of a row in a word, also where there is no request to have one. */
export function wordOf({ standing, status }: RowState): string {
  if (standing === "refused") return "REFUSED";
  if (standing === "unknown") return "UNKNOWN";
  return status ?? "WAITING";
}

/** A change of a row, where nothing moves. Why a row FAILED stands in no line of its own, so it stands here. */
export function rowChange(state: RowState, counts: Counts): string {
  const { row, standing, status, requestId, error } = state;
  const why = standing === "failed" && error ? `: ${safeLine(error.message)}` : "";
  const id = status === "PENDING" && requestId ? ` (${requestId})` : "";
  const ended = sum(counts) - counts.running - counts.waiting - counts.unknown;
  return `[${ended}/${sum(counts)}] ${safeLine(nameOf(row))}${id} is ${safeLine(wordOf(state))}${why}`;
}

/** A row that is done with, for a script: `request_id<TAB>STATUS<TAB>name<TAB>file`, `-` for what is not there. */
export function rowLine(state: RowState, style: Style): string {
  const id = state.requestId ?? state.localId ?? "-";
  return [id, statusWord(wordOf(state), style), safeLine(nameOf(state.row)), state.file ?? "-"].join("\t");
}

export interface RowMoment {
  previous: string | null;
  final: boolean;
  /** Epoch milliseconds. */
  at: number;
  /** Milliseconds since the command began. */
  elapsedMs: number;
}

/** A change of a row for a program. */
export function rowJson(state: RowState, { previous, final, at, elapsedMs }: RowMoment) {
  const { row, requestId, localId, file, error } = state;
  return {
    key: row.key ?? null,
    line: row.line,
    request_id: requestId ?? null,
    status: wordOf(state),
    previous_status: previous,
    at: new Date(at).toISOString(),
    elapsed_ms: Math.round(elapsedMs),
    final,
    ...(state.standing === "unknown" && { local_id: localId }),
    ...(file && { file }),
    ...(error && { error }),
  };
}

/** All of a batch for a program. */
export function summaryJson(counts: Counts, exitCode: number) {
  return { summary: { rows: sum(counts), ...counts, exit_code: exitCode } };
}

/** What a batch would do. Times are epoch milliseconds. */
export interface Forecast {
  counts: Counts;
  limit: number | null;
  now: number;
  /** When the last one is sent; null where nothing is left to be sent, or nobody knows the limit. */
  lastSentAt: number | null;
  /** The same with the time that past runs took; null where there were none. */
  endsAt: number | null;
}

/** What a batch would do, in sentences. */
export function forecastText({ counts, limit, now, lastSentAt, endsAt }: Forecast): string {
  const { waiting, done, running, unknown, failed, refused, stopped } = counts;
  const before = { done, running, unknown, failed, refused, stopped };
  const rest = Object.entries(before).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  const lines = [`${sum(counts)} rows: ${[`${waiting} to send`, ...rest].join(", ")}`];
  if (waiting > 0 && lastSentAt === null)
    lines.push("how long it takes nobody knows without the limit: --tier or --per-hour");
  if (lastSentAt !== null) {
    const pace = limit === null ? "without a limit" : `at ${limit} an hour`;
    const when = new Date(lastSentAt).toISOString();
    lines.push(`${pace} it takes ${formatDuration(lastSentAt - now)} until the last one is sent, at ${when}`);
  }
  if (endsAt !== null)
    lines.push(`by how long past runs took, it ends at about ${new Date(endsAt).toISOString()}`);
  return `${lines.join("\n")}\n`;
}

/** What a batch would do, for a program. */
export function forecastJson({ counts, limit, now, lastSentAt, endsAt }: Forecast) {
  const { waiting, ...rest } = counts;
  const date = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return {
    rows: sum(counts),
    to_send: waiting,
    ...rest,
    limit,
    takes_ms: lastSentAt === null ? null : lastSentAt - now,
    last_sent_at: date(lastSentAt),
    ends_at: date(endsAt),
  };
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
