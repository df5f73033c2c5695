import { askStates } from "../../../workflows/states.js";
import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { exitCodeOf } from "../../outcome.js";
import { AnswersView } from "../../requests/answers.js";

export interface StatusFlags {
  quiet?: boolean;
  exitStatus?: boolean;
}

/** Asks for the state of each request, all at once, and answers in the order given. */
export async function status(ctx: Context, ids: readonly string[], options: StatusFlags): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const { quiet, exitStatus } = options;
  const answers = await askStates(ctx.ports, targets, { signal: ctx.signal });
  const view = await AnswersView.of(ctx.reporter, targets.length, {
    quiet,
    ...(exitStatus && { exitCode: exitCodeOf }),
  });
  const codes: number[] = [];
  for (const answer of answers) codes.push(await view.show(answer));
  await view.end();
  return worstOf(codes);
}
