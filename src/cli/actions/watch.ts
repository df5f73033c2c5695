import type { Context } from "../context.js";
import { type FollowOptions, follow } from "../follow.js";
import { resolveTargets } from "../ids.js";
import { worstFollowed } from "../outcome.js";

/** Polls until every id is final. */
export async function watch(
  ctx: Context,
  ids: readonly string[],
  options: Partial<FollowOptions>,
): Promise<number> {
  const targets = resolveTargets(ctx, ids);
  return worstFollowed(await follow(ctx, targets, { ...options, print: true, resume: ["watch"] }));
}
