import { askStates } from "../../../workflows/states.js";
import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { exitCodeOf } from "../../errors.js";
import { showAnswers } from "../../requests/answers.js";

export interface StatusFlags {
  quiet?: boolean;
  exitStatus?: boolean;
}

/** Asks for the state of each request, all at once, and answers in the order given. */
export async function status(ctx: Context, ids: readonly string[], options: StatusFlags): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const { quiet, exitStatus } = options;
  const answers = await askStates(ctx.ports, targets, { signal: ctx.signal });
  const exit = exitStatus ? { exitCode: exitCodeOf } : {};
  return showAnswers(ctx.reporter, targets.length, answers, { quiet, ...exit });
}
