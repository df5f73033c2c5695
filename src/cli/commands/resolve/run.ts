import { isRequestId } from "../../../protocol/conversation.js";
import type { Context } from "../../context.js";
import { CliError, UsageError } from "../../errors.js";
import { requireEntry } from "../show/run.js";

export interface ResolveOptions {
  requestId?: string;
  notCreated?: boolean;
}

/** Settles a create whose outcome is unknown, by what its user found out elsewhere. */
export async function resolve(ctx: Context, id: string, options: ResolveOptions): Promise<number> {
  const { requestId, notCreated } = options;
  if ((requestId === undefined) === !notCreated) {
    throw new UsageError(
      "give either --request-id ID or --not-created",
      "The one for a request that exists, the other for one that does not.",
    );
  }
  if (requestId !== undefined && !isRequestId(requestId))
    throw new UsageError(`${JSON.stringify(requestId)} is no request id`);
  const entry = requireEntry(ctx, id);
  const settled = ctx.history?.resolve(entry.local_id, requestId ?? null);
  if (!settled) {
    throw new CliError(
      "NOT_ALLOWED",
      `the outcome of ${entry.local_id} is known: ${entry.request_id} is ${entry.status}`,
      { localId: entry.local_id },
    );
  }
  if (ctx.reporter.json) await ctx.reporter.resultJson(settled);
  else await ctx.reporter.result(`${settled.request_id ?? settled.local_id}\t${settled.status}\n`);
  return 0;
}
