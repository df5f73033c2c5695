import { askStates, resolveTarget } from "../../../client/workflows/requests.js";
import type { Context } from "../../context.js";
import { showStates } from "../../requests/show-states.js";

export async function runStatus(
  ctx: Context,
  ids: readonly string[],
  options: { quiet?: boolean; exitStatus?: boolean },
): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx, id));
  const answers = await askStates(targets, { signal: ctx.signal });
  return showStates(ctx.reporter, targets.length, answers, options);
}
