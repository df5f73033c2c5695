import type { Context } from "../../context.js";
import { type FollowOptions, follow } from "../../follow.js";
import { resolveTargets } from "../../ids.js";
import { OnDone, type OnDoneOptions } from "../../on-done.js";
import { worstFollowed } from "../../outcome.js";

export type WatchOptions = Partial<FollowOptions> & OnDoneOptions;

/** Polls until every id is final. */
export async function watch(ctx: Context, ids: readonly string[], options: WatchOptions): Promise<number> {
  const targets = resolveTargets(ctx, ids);
  const done = OnDone.of(ctx, options);
  const followed = await follow(ctx, targets, { ...options, print: true, resume: ["watch"], done });
  const code = worstFollowed(followed);
  return done ? done.settle(code) : code;
}
