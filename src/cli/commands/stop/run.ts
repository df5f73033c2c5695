import { askStates } from "../../../workflows/states.js";
import { stopAll } from "../../../workflows/stop.js";
import { type NamedTarget, resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { UsageError, worstOf } from "../../errors.js";
import { AnswersView } from "../../requests/answers.js";
import { ask } from "../../terminal/prompts.js";
import { entryTable, type Listed } from "../list/view.js";

/** Of a request about which the service gave no answer. */
const UNSEEN = { status: "?", created_at: null };

export interface StopOptions {
  yes?: boolean;
}

/** Stops each request; on a terminal it asks first, since nothing is kept and nothing can be restarted. */
export async function stop(ctx: Context, ids: readonly string[], { yes }: StopOptions): Promise<number> {
  const targets = ids.map((id) => resolveTarget(ctx.ports, id));
  const { reporter, host, signal } = ctx;
  if (!yes && host.stdin.isTTY && host.stderr.isTTY && !reporter.json) await confirm(ctx, targets);
  const view = await AnswersView.of(reporter, targets.length);
  const codes: number[] = [];
  for await (const answer of stopAll(ctx.ports, targets, { signal })) codes.push(await view.show(answer));
  await view.end();
  return worstOf(codes);
}

/** Names each request before it is gone; the service is asked about those that the history does not know. */
async function confirm(ctx: Context, targets: readonly NamedTarget[]): Promise<void> {
  const { host, ports, reporter, signal } = ctx;
  const strange = await askStates(
    ports,
    targets.filter(({ entry }) => !entry),
    { signal },
  );
  const rows = targets.map(({ requestId, entry }): Listed => {
    const answer = strange.find(({ target }) => target.requestId === requestId);
    const { status, created_at } = answer?.kind === "answered" ? answer.data : UNSEEN;
    return (
      entry ?? {
        ...{ request_id: requestId, status, prompt: "(not in the history of this machine)" },
        created_at: typeof created_at === "string" ? created_at : null,
      }
    );
  });
  const columns = host.stderr.stream?.columns ?? 80;
  const table = entryTable(rows, host.clock.now(), columns, await reporter.style());
  const what = targets.length === 1 ? "this request" : `these ${targets.length} requests`;
  const question = `Stop ${what}? Nothing of the research is kept, and it cannot be restarted. [y/N] `;
  const answer = await ask(ctx, `${table}${question}`);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("not stopped: it was not confirmed", "Answer y, or give --yes.");
}
