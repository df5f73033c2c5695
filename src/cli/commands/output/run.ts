import { NoOutputError } from "../../../client/errors.js";
import type { Context } from "../../context.js";
import { CliError } from "../../errors.js";
import { type FollowOptions, follow } from "../../follow.js";
import { resolveTarget } from "../../ids.js";
import { type Followed, worstFollowed } from "../../outcome.js";
import { checkResultOptions, deliver, type ResultOptions } from "../../result.js";

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
    if (code !== 0) return endedWithout(ctx, code, followed[0]);
  }
  const data = await ctx.client.output(target.requestId, { signal: ctx.signal });
  await deliver(ctx, data, target.entry, options);
  return 0;
}

/** A run that ended FAILED or STOPPED has no result, and the service says why; the watch has told anything else. */
export async function endedWithout(
  ctx: Context,
  code: number,
  followed: Followed | undefined,
): Promise<number> {
  const { requestId = "", status } = followed ?? {};
  if (status === "FAILED") {
    try {
      await ctx.client.output(requestId, { signal: ctx.signal });
    } catch (error) {
      if (error instanceof NoOutputError && error.status === status) throw error;
      ctx.signal.throwIfAborted();
    }
    throw new CliError("RESEARCH_FAILED", `${requestId} ended FAILED, so it has no output`, { requestId });
  }
  if (status === "STOPPED")
    throw new CliError("RESEARCH_STOPPED", `${requestId} was stopped, so it has no output`, { requestId });
  return code;
}
