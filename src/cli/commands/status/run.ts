import { fetchStates, findTarget } from "../../../client/workflows/find-and-query-requests.js";
import type { Context } from "../../command-context.js";
import { showStates } from "../../requests/show-states.js";

export async function runStatus(
  ctx: Context,
  ids: readonly string[],
  options: { quiet?: boolean; exitStatus?: boolean },
): Promise<number> {
  const targets = ids.map((id) => findTarget(ctx, id));
  const answers = await fetchStates(targets, { signal: ctx.signal });
  return showStates(ctx.reporter, targets.length, answers, options);
}
