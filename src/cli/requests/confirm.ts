import { UsageError } from "../../machine/errors.js";
import { entryTable, type Listed } from "../commands/list/view.js";
import { ask } from "../terminal/prompts.js";
import type { Terminal } from "../terminal/terminal.js";

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
  const columns = host.stderr.stream?.columns ?? 80;
  const rows = requests.slice(0, MOST_ROWS);
  const table = entryTable(rows, host.clock.now(), columns, await reporter.style());
  const more = requests.length > rows.length ? `and ${requests.length - rows.length} more\n` : "";
  const what = requests.length === 1 ? "this request" : `these ${requests.length} requests`;
  const answer = await ask(terminal, `${table}${more}${verb} ${what}? ${loss} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError(`${refused}: it was not confirmed`, "Answer y, or give --yes.");
}
