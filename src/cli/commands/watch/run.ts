import { findTarget } from "../../../client/workflows/find-and-query-requests.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { type Context, formatResumeCommand } from "../../command-context.js";
import { pickWorstExit } from "../../requests/exit-codes.js";
import { formatNotification } from "../../requests/format-progress.js";
import { chooseRequestIds } from "../../requests/request-prompts.js";
import { getOutcomeExitCode, showFollow } from "../../requests/show-follow.js";
import { notifyOfEnd } from "../../terminal/notification.js";
import type { Given } from "../shared-flags.js";

export async function watch(
  ctx: Context,
  given: readonly string[],
  options: Given<"pace" | "notify">,
): Promise<number> {
  const ids = await chooseRequestIds(
    ctx,
    given,
    ({ request_id, status }) => request_id !== null && !isFinal(status),
    "no request of this machine is running",
  );
  const targets = ids.map((id) => findTarget(ctx, id));
  const resume = (left: readonly string[]) => formatResumeCommand(ctx.flags, "watch", left);
  const outcomes = await showFollow(ctx, targets, { ...options, print: true, resume });
  if (options.notify) await notifyOfEnd(ctx, formatNotification(outcomes));
  return pickWorstExit(outcomes.map((outcome) => getOutcomeExitCode(outcome)));
}
