import { askStates } from "../../../workflows/states.js";
import { stopAll } from "../../../workflows/stop.js";
import { type NamedTarget, resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { AnswersView } from "../../requests/answers.js";
import { asksFirst, confirm } from "../../requests/confirm.js";
import type { Listed } from "../list/view.js";

const STOPPING = {
  verb: "Stop",
  loss: "Nothing of the research is kept, and it cannot be restarted.",
  refused: "not stopped",
};

/** Of a request about which the service gave no answer. */
const UNSEEN = { status: "?", created_at: null };

export interface StopOptions {
  yes?: boolean;
}

/** Stops each request; on a terminal it asks first, since nothing is kept and nothing can be restarted. */
export async function stop(ctx: Context, ids: readonly string[], { yes }: StopOptions): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const { reporter, signal } = ctx;
  if (!yes && asksFirst(ctx)) await confirm(ctx, await namedRequests(ctx, targets), STOPPING);
  const view = await AnswersView.of(reporter, targets.length);
  const codes: number[] = [];
  for await (const answer of stopAll(ctx.ports, targets, { signal })) codes.push(await view.show(answer));
  await view.end();
  return worstOf(codes);
}

/** What is shown of each; the service is asked about those that the history does not know. */
async function namedRequests({ ports, signal }: Context, targets: readonly NamedTarget[]): Promise<Listed[]> {
  const strange = targets.filter(({ entry }) => !entry);
  const answers = await askStates(ports, strange, { signal });
  return targets.map(({ requestId, entry }): Listed => {
    const answer = answers.find(({ target }) => target.requestId === requestId);
    const { status, created_at } = answer?.kind === "answered" ? answer.data : UNSEEN;
    return (
      entry ?? {
        ...{ request_id: requestId, status, prompt: "(not in the history of this machine)" },
        created_at: typeof created_at === "string" ? created_at : null,
      }
    );
  });
}
