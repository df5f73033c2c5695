import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { exitCodeOfOutcome } from "../../outcome.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { OnDone, type OnDoneOptions } from "../../requests/on-done.js";
import { resumeCommand } from "../../resume.js";

export type WatchFlags = FollowFlags & OnDoneOptions;

/** Polls until every request is final. */
export async function watch(ctx: Context, ids: readonly string[], options: WatchFlags): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const done = OnDone.of(ctx, options);
  const flags = options.onDone === undefined ? [] : ["--on-done", options.onDone];
  const resume = (left: readonly string[]) => resumeCommand(ctx.flags, "watch", ...left, ...flags);
  const outcomes = await showFollow(ctx, ctx.ports, targets, { ...options, print: true, resume, done });
  const code = worstOf(outcomes.map((outcome) => exitCodeOfOutcome(outcome)));
  return done ? done.settle(code) : code;
}
