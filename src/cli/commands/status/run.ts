import { askStates, resolveTarget } from "../../../client/workflows/requests.js";
import type { Context } from "../../context.js";
import { showAnswers } from "../../requests/answers.js";

export async function runStatus(
  ctx: Context,
  ids: readonly string[],
  options: { quiet?: boolean; exitStatus?: boolean },
): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx, id));
  const answers = await askStates(targets, { signal: ctx.signal });
  return showAnswers(ctx.reporter, targets.length, answers, options);
}
