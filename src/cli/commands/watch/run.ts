import { findTarget } from "../../../client/workflows/find-and-query-requests.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { type Context, formatResumeCommand } from "../../context.js";
import { pickWorstExit } from "../../requests/failures.js";
import { getOutcomeExitCode, showFollow } from "../../requests/follow.js";
import { formatEnd } from "../../requests/progress-text.js";
import { chooseIds } from "../../requests/table.js";
import { notifyEnd } from "../../terminal/notification.js";
import type { Given } from "../flags.js";

export async function watch(
  ctx: Context,
  given: readonly string[],
  options: Given<"pace" | "notify">,
): Promise<number> {
  const ids = await chooseIds(
    ctx,
    given,
    ({ request_id, status }) => request_id !== null && !isFinal(status),
    "no request of this machine is running",
  );
  const targets = ids.map((id) => findTarget(ctx, id));
  const resume = (left: readonly string[]) => formatResumeCommand(ctx.flags, "watch", left);
  const outcomes = await showFollow(ctx, targets, { ...options, print: true, resume });
  if (options.notify) await notifyEnd(ctx, formatEnd(outcomes));
  return pickWorstExit(outcomes.map((outcome) => getOutcomeExitCode(outcome)));
}
