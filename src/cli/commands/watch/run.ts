import { resolveTarget } from "../../../workflows/requests.js";
import { type Context, resumeCommand } from "../../context.js";
import { exitCodeOfOutcome, worstOf } from "../../requests/answers.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { OnDone } from "../../requests/on-done.js";
import { endText } from "../../requests/progress-text.js";
import { notifyEnd } from "../../terminal/reporter.js";
import type { NotifyOptions, OnDoneOptions } from "../definition.js";

export type WatchFlags = FollowFlags & OnDoneOptions & NotifyOptions;

/** Polls until every request is final. */
export async function watch(ctx: Context, ids: readonly string[], options: WatchFlags): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const done = OnDone.of(ctx, options.onDone);
  const flags = options.onDone === undefined ? [] : ["--on-done", options.onDone];
  const resume = (left: readonly string[]) => resumeCommand(ctx.flags, "watch", ...left, ...flags);
  const outcomes = await showFollow(ctx, ctx.ports, targets, { ...options, print: true, resume, done });
  if (options.notify) await notifyEnd(ctx, endText(outcomes));
  const code = worstOf(outcomes.map((outcome) => exitCodeOfOutcome(outcome)));
  return done ? done.settle(code) : code;
}
