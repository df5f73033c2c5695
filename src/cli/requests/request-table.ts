import type { HistoryEntry } from "../../client/store/history/history-records.js";
import { parseEpochMs } from "../../core/clock.js";
import { formatDollars } from "../../core/text/describe-progress.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { measureColumns } from "../../core/text/text-width.js";
import { formatDuration } from "../../core/text/time-format.js";
import type { Context } from "../command-context.js";
import { alignRow } from "../terminal/align-columns.js";
import type { Sink } from "../terminal/host.js";
import { chooseStyle, getTerminalColumns, type Style } from "../terminal/style.js";
import { formatStatusWord } from "./show-states.js";

/** Minimum columns for prompts. If they would get fewer, ids are shortened to a unique beginning and costs are left out. */
const GOOD_PROMPT = 40;

/** Formats an entry for scripts: `id<TAB>STATUS<TAB>created_at<TAB>prompt`. An unknown outcome has its local id. */
export function formatEntryRow(entry: HistoryEntry): string {
  return [
    getDisplayId(entry),
    escapeLine(entry.status),
    escapeLine(entry.created_at ?? entry.sent_at),
    escapeLine(entry.prompt),
  ].join("\t");
}

/** The fields of a request that a table shows; those of a request that another machine created may be missing. */
export type TableEntry = Pick<HistoryEntry, "request_id" | "status" | "created_at" | "prompt"> &
  Partial<Pick<HistoryEntry, "local_id" | "sent_at" | "cost_dollars">>;

export interface TableOptions {
  /** Current time in epoch milliseconds. */
  now: number;
  columns: number;
  style: Style;
  /** Returns the length of the shortest unique beginning of an id. */
  nameLength?: ((id: string) => number) | undefined;
}

/** Formats requests as a table for people, with ages. To fit the terminal's width, it shortens ids first, then prompts. */
export function formatEntryTable(
  entries: readonly TableEntry[],
  { now, columns, style, nameLength }: TableOptions,
) {
  if (entries.length === 0) return "";
  const rows = entries.map(({ request_id, local_id = "", status, created_at, sent_at, prompt, ...entry }) => {
    // An age counts from the time of sending by this machine's clock (contract §3).
    const since = parseEpochMs(sent_at) ?? parseEpochMs(created_at);
    const age = since === undefined ? "?" : formatDuration(now - since);
    const cost = entry.cost_dollars === undefined ? "" : formatDollars(entry.cost_dollars);
    return {
      id: request_id ?? local_id,
      status: escapeLine(status),
      age,
      cost,
      prompt: escapeLine(prompt),
    };
  });
  type Row = Record<keyof typeof HEAD, string>;
  const measureWidth = (key: keyof Row) =>
    Math.max(...[HEAD, ...rows].map((row: Row) => measureColumns(row[key])));
  const [ids, status] = [measureWidth("id"), measureWidth("status")];
  const [age, costs] = [measureWidth("age"), measureWidth("cost")];
  const room = columns - status - age - 6 - Math.min(measureWidth("prompt"), GOOD_PROMPT);
  const isCut = ids > room && nameLength !== undefined;
  const id = isCut ? Math.max(...rows.map((row) => Math.min(row.id.length, nameLength(row.id) + 1))) : ids;
  const hasCost = rows.some((row) => row.cost !== "") && id + costs + 2 <= room;
  const formatLine = (row: Row, word: string) => {
    const numbers = [row.age.padStart(age), ...(hasCost ? [row.cost.padStart(costs)] : [])];
    return alignRow([row.id, word, ...numbers, row.prompt], [id, status], columns);
  };
  const lines = rows.map((row) => formatLine(row, formatStatusWord(row.status, style)));
  return `${[style.dim(formatLine(HEAD, HEAD.status)), ...lines].join("\n")}\n`;
}

const HEAD = { id: "ID", status: "STATUS", age: "AGE", cost: "COST", prompt: "PROMPT" };

/** Creates the table for a terminal, leaving `indent` columns for what the caller puts before each row. */
export async function formatTableFor(
  sink: Sink,
  { host, history }: Pick<Context, "host" | "history">,
  entries: readonly TableEntry[],
  indent = 0,
): Promise<string> {
  const style = await chooseStyle(sink, host.env);
  const nameLength = history && ((id: string) => history.measureNameLength(id));
  return formatEntryTable(entries, {
    now: host.clock.now(),
    columns: getTerminalColumns(sink) - indent,
    style,
    nameLength,
  });
}

/** Returns the request id of an entry, or its local id if it has no request id. */
export function getDisplayId({ request_id, local_id }: HistoryEntry): string {
  return request_id ?? local_id;
}

export const NOTHING_YET =
  'nothing is recorded on this machine yet; begin with: research run "your question"';
