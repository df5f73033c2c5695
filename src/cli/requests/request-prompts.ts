import { NAME_ONE, UsageError } from "../../app/errors.js";
import type { HistoryEntry } from "../../client/store/history/history-records.js";
import type { Context } from "../command-context.js";
import { askQuestion } from "../terminal/prompts.js";
import type { Terminal } from "../terminal/reporter.js";
import { formatTableFor, getDisplayId, NOTHING_YET, type TableEntry } from "./request-table.js";

/** Maximum number of rows above a question. */
const MOST_ROWS = 10;

/** Returns whether a command may ask the user: only on a terminal, and not for JSON. */
export function canPrompt({ host, reporter }: Terminal): boolean {
  return host.stdin.isTTY && host.stderr.isTTY && !reporter.json;
}

/** Lists the requests and asks for confirmation. Throws UsageError unless the answer is yes. `loss`: what cannot be undone, for the question. */
export async function confirmRequests(
  ctx: Context,
  requests: readonly TableEntry[],
  { verb, loss, refused }: { verb: string; loss: string; refused: string },
): Promise<void> {
  const rows = requests.slice(0, MOST_ROWS);
  const table = await formatTableFor(ctx.host.stderr, ctx, rows);
  const more = requests.length > rows.length ? `and ${requests.length - rows.length} more\n` : "";
  const what = requests.length === 1 ? "this request" : `these ${requests.length} requests`;
  await requireConfirmation(ctx, `${table}${more}${verb} ${what}? ${loss}`, refused);
}

/** Asks `question`. Throws UsageError unless the answer is yes. `refused`: how the error's message begins. */
export async function requireConfirmation(
  terminal: Terminal,
  question: string,
  refused: string,
): Promise<void> {
  const answer = await askQuestion(terminal, `${question} [y/N]`);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError(`${refused}: not confirmed`, "Answer y, or pass --yes.");
}

/** Returns the given ids; if there are none, lets the user choose from the newest requests that `accepts` allows. Throws UsageError if that is impossible. */
export async function chooseRequestIds(
  ctx: Context,
  ids: readonly string[],
  accepts: (entry: HistoryEntry) => boolean = () => true,
  lack = "there are no requests to choose from",
): Promise<readonly string[]> {
  if (ids.length > 0) return ids;
  const entries = canPrompt(ctx) ? (ctx.history?.list({ limit: MOST_ROWS, accepts }) ?? []) : [];
  if (entries.length === 0) {
    const hint = ctx.history?.findNewest(() => true) ? NAME_ONE : NOTHING_YET;
    throw new UsageError(canPrompt(ctx) ? lack : "missing required argument 'id'", hint);
  }
  if (entries.length === 1) return entries.map(getDisplayId);
  const numbers = ["", ...entries.map((_, index) => `${index + 1}`)].map((number) => number.padStart(2));
  const rows = (await formatTableFor(ctx.host.stderr, ctx, entries, 4)).trimEnd().split("\n");
  const table = rows.map((row, index) => `${numbers[index]}  ${row}\n`).join("");
  const answer =
    (await askQuestion(ctx, `${table}Which one? [1-${entries.length}, Enter for 1]`)).trim() || "1";
  const entry = /^\d+$/.test(answer) ? entries[Number(answer) - 1] : undefined;
  if (!entry)
    throw new UsageError(`${JSON.stringify(answer)} is not one of 1 to ${entries.length}`, NAME_ONE);
  return [getDisplayId(entry)];
}
