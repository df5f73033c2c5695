import { askStates, resolveTarget } from "../../../client/workflows/requests.js";
import type { Context } from "../../context.js";
import { showResponses } from "../../requests/show-responses.js";

export async function runStatus(
  ctx: Context,
  ids: readonly string[],
  options: { quiet?: boolean; exitStatus?: boolean },
): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx, id));
  const answers = await askStates(targets, { signal: ctx.signal });
  return showResponses(ctx.reporter, targets.length, answers, options);
}
