import type { StatusData } from "../../../client/client.js";
import { withMember } from "../../../json/exact-json.js";
import type { Context } from "../../context.js";
import { UsageError, worstOf } from "../../errors.js";
import { resolveTargets, type Target } from "../../ids.js";
import { observe } from "../../outcome.js";
import { ask } from "../../terminal/prompts.js";
import { tell } from "../status/run.js";
import { statusLine } from "../status/view.js";

export interface StopOptions {
  yes?: boolean;
}

/** Stops each id; on a terminal it asks first, since nothing is kept and nothing can be restarted. */
export async function stop(ctx: Context, ids: readonly string[], options: StopOptions): Promise<number> {
  const targets = resolveTargets(ctx, ids);
  const { client, reporter, host } = ctx;
  if (!options.yes && host.stdin.isTTY && host.stderr.isTTY && !reporter.json) await confirm(ctx, targets);
  const style = await reporter.style();
  const codes: number[] = [];
  const found: StatusData[] = [];
  for (const target of targets) {
    try {
      const answer = await client.stop(target.requestId, { signal: ctx.signal });
      const data = withMember(answer, "request_id", target.requestId);
      observe(ctx, target.entry, data.status);
      found.push(data);
      codes.push(0);
      if (!reporter.json) await reporter.result(`${statusLine(target.requestId, data.status, style)}\n`);
    } catch (error) {
      codes.push(await tell(ctx, error, target.requestId));
    }
  }
  if (reporter.json && (targets.length > 1 || found.length > 0)) {
    await reporter.resultJson(targets.length > 1 ? found : found[0]);
  }
  return worstOf(codes);
}

async function confirm(ctx: Context, targets: readonly Target[]): Promise<void> {
  const what = targets.length === 1 ? targets[0]?.requestId : `${targets.length} requests`;
  const answer = await ask(
    ctx,
    `Stop ${what}? Nothing of the research is kept, and it cannot be restarted. [y/N] `,
  );
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("not stopped: it was not confirmed", "Answer y, or give --yes.");
}
