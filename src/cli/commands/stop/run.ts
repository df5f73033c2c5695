import { UsageError } from "../../../machine/errors.js";
import { stopAll } from "../../../workflows/stop.js";
import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { AnswersView } from "../../requests/answers.js";
import { ask } from "../../terminal/prompts.js";
import type { Terminal } from "../../terminal/terminal.js";

export interface StopOptions {
  yes?: boolean;
}

/** Stops each request; on a terminal it asks first, since nothing is kept and nothing can be restarted. */
export async function stop(ctx: Context, ids: readonly string[], { yes }: StopOptions): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const { reporter, host, signal } = ctx;
  if (!yes && host.stdin.isTTY && host.stderr.isTTY && !reporter.json)
    await confirm(ctx, targets.length === 1 ? (ids[0] ?? "") : `${targets.length} requests`);
  const view = await AnswersView.of(reporter, targets.length);
  const codes: number[] = [];
  for await (const answer of stopAll(ctx.ports, targets, { signal })) codes.push(await view.show(answer));
  await view.end();
  return worstOf(codes);
}

async function confirm(terminal: Terminal, what: string): Promise<void> {
  const answer = await ask(
    terminal,
    `Stop ${what}? Nothing of the research is kept, and it cannot be restarted. [y/N] `,
  );
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("not stopped: it was not confirmed", "Answer y, or give --yes.");
}
