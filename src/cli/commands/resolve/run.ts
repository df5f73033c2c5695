import { CodedError, UsageError } from "../../../app/errors.js";
import { requireEntry } from "../../../client/workflows/find-and-query-requests.js";
import { isRequestId } from "../../../core/protocol/conversation.js";
import type { Context } from "../../command-context.js";

export async function resolve(
  ctx: Context,
  id: string,
  { requestId, notCreated }: { requestId?: string; notCreated?: boolean },
): Promise<void> {
  if ((requestId === undefined) === !notCreated) {
    throw new UsageError(
      "pass either --request-id ID or --not-created",
      "Use --request-id if the request exists, and --not-created if it does not.",
    );
  }
  if (requestId !== undefined && !isRequestId(requestId))
    throw new UsageError(`invalid request id: ${JSON.stringify(requestId)}`);
  const { history } = ctx;
  const entry = requireEntry(ctx, id);
  const settled = history?.resolve(entry.local_id, requestId ?? null);
  if (!settled) {
    const { local_id, request_id, status } = entry;
    throw new CodedError(
      "NOT_ALLOWED",
      `the outcome of ${local_id} is already known: ${request_id === null ? status : `${request_id} is ${status}`}`,
      { localId: local_id },
    );
  }
  await ctx.reporter.show(settled, `${settled.request_id ?? settled.local_id}\t${settled.status}\n`);
}
