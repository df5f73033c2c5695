import { epochOf } from "../../../clock.js";
import type { HistoryEntry } from "../../../store/history/records.js";
import { formatDuration } from "../../../text/duration.js";
import { safeLine } from "../../../text/safe-text.js";
import { statusWord } from "../../requests/status-text.js";
import { fitColumns } from "../../terminal/fit-columns.js";
import type { Style } from "../../terminal/style.js";

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
    const since = epochOf(created_at) ?? epochOf(sent_at);
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
