import type { Context } from "../context.js";
import { CliError, EXIT_CODES } from "../errors.js";
import { type FollowOptions, follow, worstFollowed } from "../follow.js";
import { resolveTarget } from "../ids.js";
import { checkResultOptions, deliver, type ResultOptions } from "../result.js";

export interface OutputOptions extends ResultOptions, Partial<FollowOptions> {
  watch?: boolean;
}

/** Fetches the result of a completed conversation. */
export async function output(ctx: Context, id: string, options: OutputOptions): Promise<number> {
  checkResultOptions(options);
  const target = resolveTarget(ctx, id);
  if (options.watch) {
    const followed = await follow(ctx, [target], { ...options, print: false, resume: ["output", "-w"] });
    const code = worstFollowed(followed);
    if (code !== 0) return endedWithout(code, followed[0]?.requestId);
  }
  const data = await ctx.client.output(target.requestId, { signal: ctx.signal });
  await deliver(ctx, data, target.entry, options);
  return 0;
}

/** A run that ended FAILED or STOPPED has no result; anything else has been told by the watch. */
export function endedWithout(code: number, requestId: string | undefined): number {
  if (code === EXIT_CODES.RESEARCH_FAILED) {
    throw new CliError("RESEARCH_FAILED", `${requestId} ended FAILED, so there is no result`, { requestId });
  }
  if (code === EXIT_CODES.RESEARCH_STOPPED) {
    throw new CliError("RESEARCH_STOPPED", `${requestId} was stopped, so there is no result`, { requestId });
  }
  return code;
}
