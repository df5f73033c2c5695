import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { exitCodeOfOutcome } from "../../outcome.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { type NotifyOptions, OnDone, type OnDoneOptions } from "../../requests/on-done.js";
import { endText } from "../../requests/progress-text.js";
import { resumeCommand } from "../../resume.js";
import { notify } from "../../terminal/attention.js";

export type WatchFlags = FollowFlags & OnDoneOptions & NotifyOptions;

/** Polls until every request is final. */
export async function watch(ctx: Context, ids: readonly string[], options: WatchFlags): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const done = OnDone.of(ctx, options);
  const flags = options.onDone === undefined ? [] : ["--on-done", options.onDone];
  const resume = (left: readonly string[]) => resumeCommand(ctx.flags, "watch", ...left, ...flags);
  const outcomes = await showFollow(ctx, ctx.ports, targets, { ...options, print: true, resume, done });
  if (options.notify) await notify(ctx, endText(outcomes));
  const code = worstOf(outcomes.map((outcome) => exitCodeOfOutcome(outcome)));
  return done ? done.settle(code) : code;
}
