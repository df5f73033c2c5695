import {
  fetchStates,
  findTarget,
  type NamedTarget,
  stopRequests,
} from "../../../client/workflows/find-and-query-requests.js";
import type { Context } from "../../command-context.js";
import { canPrompt, confirmRequests } from "../../requests/request-prompts.js";
import type { TableEntry } from "../../requests/request-table.js";
import { showStates } from "../../requests/show-states.js";

const STOPPING = {
  verb: "Stop",
  loss: "The result is lost, and the research cannot be restarted.",
  refused: "not stopped",
};

const UNSEEN = { status: "?", created_at: null };

/** Stops each request. On a terminal, asks for confirmation first, because the result is lost and the research cannot be restarted. */
export async function stop(
  ctx: Context,
  ids: readonly string[],
  { yes }: { yes?: boolean },
): Promise<number> {
  // Stop a request once even if its id is given twice, because the service would refuse the second stop.
  const named = new Map(ids.map((id) => findTarget(ctx, id)).map((target) => [target.requestId, target]));
  const targets = [...named.values()];
  const { reporter, signal } = ctx;
  if (!yes && canPrompt(ctx)) await confirmRequests(ctx, await listNamedRequests(ctx, targets), STOPPING);
  return showStates(reporter, ids.length, stopRequests(targets, { signal }));
}

/** Lists the requests for the confirmation. Asks the service about those that the history does not have. */
async function listNamedRequests(ctx: Context, targets: readonly NamedTarget[]): Promise<TableEntry[]> {
  const strange = targets.filter(({ entry }) => !entry);
  const answers = await fetchStates(strange, { signal: ctx.signal });
  return targets.map(({ requestId, entry }): TableEntry => {
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
