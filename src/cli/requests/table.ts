import { epochOf } from "../../clock.js";
import { UsageError } from "../../machine/errors.js";
import type { HistoryEntry } from "../../store/history/history.js";
import { formatDuration } from "../../text/duration.js";
import { safeLine } from "../../text/safe-text.js";
import { ask } from "../terminal/prompts.js";
import { fitColumns, type Style, type Terminal } from "../terminal/reporter.js";
import { statusWord } from "./answers.js";

/** A prompt is shown at least this long, however narrow the terminal. */
const SHORTEST_PROMPT = 20;

/** One entry for a script: `id<TAB>STATUS<TAB>created_at<TAB>prompt`; an unknown outcome has its local id. */
export function entryRow(entry: HistoryEntry): string {
  return [
    entry.request_id ?? entry.local_id,
    safeLine(entry.status),
    safeLine(entry.created_at ?? entry.sent_at),
    safeLine(entry.prompt),
  ].join("\t");
}

/** What a table shows of a request; one that was made elsewhere has not all of it. */
export type Listed = Pick<HistoryEntry, "request_id" | "status" | "created_at" | "prompt"> &
  Partial<Pick<HistoryEntry, "local_id" | "sent_at">>;

/** Requests for a person: aligned, with ages, `columns` wide. `now` is epoch milliseconds. */
export function entryTable(entries: readonly Listed[], now: number, columns: number, style: Style): string {
  if (entries.length === 0) return "";
  const rows = entries.map(({ request_id, local_id = "", status, created_at, sent_at, prompt }) => {
    // As everywhere an age counts from the moment it was sent, by this machine's clock (contract §3).
    const since = epochOf(sent_at) ?? epochOf(created_at);
    const age = since === undefined ? "?" : formatDuration(now - since);
    return { id: request_id ?? local_id, status, age, prompt: safeLine(prompt) };
  });
  const width = (key: "id" | "status" | "age") => Math.max(key.length, ...rows.map((row) => row[key].length));
  const [id, status, age] = [width("id"), width("status"), width("age")];
  const room = Math.max(columns - id - status - age - 6, SHORTEST_PROMPT);
  const head = style.dim(`${"ID".padEnd(id)}  ${"STATUS".padEnd(status)}  ${"AGE".padStart(age)}  PROMPT`);
  const lines = rows.map(
    (row) =>
      `${row.id.padEnd(id)}  ${statusWord(row.status, style)}${" ".repeat(status - row.status.length)}  ${row.age.padStart(age)}  ${fitColumns(row.prompt, room)}`,
  );
  return `${[head, ...lines].join("\n")}\n`;
}

/** Rows above a question: enough to see what it is about. */
const MOST_ROWS = 10;

/** Whether a command that cannot be undone asks first: on a terminal only. */
export function asksFirst({ host, reporter }: Terminal): boolean {
  return host.stdin.isTTY && host.stderr.isTTY && !reporter.json;
}

/**
 * Names the requests that `verb` (Stop, Forget) is for, and asks. Throws UsageError unless the answer is yes. `loss`: what
 * cannot be undone.
 */
export async function confirm(
  terminal: Terminal,
  requests: readonly Listed[],
  { verb, loss, refused }: { verb: string; loss: string; refused: string },
): Promise<void> {
  const { host, reporter } = terminal;
  const columns = host.stderr.stream?.columns || 80;
  const rows = requests.slice(0, MOST_ROWS);
  const table = entryTable(rows, host.clock.now(), columns, await reporter.style());
  const more = requests.length > rows.length ? `and ${requests.length - rows.length} more\n` : "";
  const what = requests.length === 1 ? "this request" : `these ${requests.length} requests`;
  const answer = await ask(terminal, `${table}${more}${verb} ${what}? ${loss} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError(`${refused}: it was not confirmed`, "Answer y, or give --yes.");
}
