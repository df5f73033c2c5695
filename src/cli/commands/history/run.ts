import { describeFailure } from "../../../app/describe-failure.js";
import { CodedError, UsageError } from "../../../app/errors.js";
import { type HistoryEntry, NOT_CREATED, UNKNOWN } from "../../../client/store/history/history-records.js";
import { requireEntry } from "../../../client/workflows/find-and-query-requests.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { WINDOW_MS } from "../../../core/protocol/rate-limits.js";
import type { Context } from "../../command-context.js";
import { addRequestId, pickWorstExit } from "../../requests/exit-codes.js";
import { canPrompt, confirmRequests } from "../../requests/request-prompts.js";

const FORGETTING = {
  verb: "Forget",
  loss: "This removes the prompt, context, id and stored result from this disk.",
  refused: "not forgotten",
};

/** Removes requests from disk: the named ones, or all that were sent long enough ago. */
export async function forgetHistory(
  ctx: Context,
  ids: readonly string[],
  { olderThan, yes }: { olderThan?: number; yes?: boolean },
): Promise<number> {
  if (ids.length > 0 === (olderThan !== undefined))
    throw new UsageError("name ids, or give --older-than", "research history forget --older-than 90d");
  const now = ctx.host.clock.now();
  const codes: number[] = [];
  const wanted = new Map<string, HistoryEntry>();
  for (const id of ids) {
    try {
      const entry = requireEntry(ctx, id);
      const reason = explainWhyKept(entry, now);
      if (reason) throw createNotAllowedError(entry, reason);
      wanted.set(entry.local_id, entry);
    } catch (error) {
      const failure =
        error instanceof CodedError
          ? describeFailure(error)
          : addRequestId(describeFailure(error), id, ctx.reporter);
      await ctx.reporter.writeError(failure);
      codes.push(failure.exit_code);
    }
  }
  const isOldEnough = (entry: HistoryEntry) => Date.parse(entry.sent_at) < now - (olderThan ?? 0);
  const old =
    olderThan === undefined ? [] : (ctx.history?.list({ limit: Infinity, accepts: isOldEnough }) ?? []);
  for (const entry of old) if (!explainWhyKept(entry, now)) wanted.set(entry.local_id, entry);
  const skipped = old.length - (olderThan === undefined ? 0 : wanted.size);
  const entries = [...wanted.values()];
  if (entries.length > 0 && !yes && canPrompt(ctx)) await confirmRequests(ctx, entries, FORGETTING);
  if (entries.length > 0) await ctx.history?.forget(entries);
  await reportRemoved(ctx, entries, skipped);
  return pickWorstExit(codes);
}

/** Returns why an entry may not be removed; undefined if it may. */
function explainWhyKept({ status, sent_at }: HistoryEntry, now: number): string | undefined {
  if (status === UNKNOWN) return "has an unknown outcome: run `research resolve` first";
  if (status !== NOT_CREATED && !isFinal(status))
    return `has not ended: its last recorded state is ${status}`;
  if (Date.parse(sent_at) > now - WINDOW_MS)
    return "was sent within the last hour, so it still counts towards the hourly limit; forget it later";
  return undefined;
}

function createNotAllowedError({ request_id, local_id }: HistoryEntry, reason: string): CodedError {
  const facts = { localId: local_id, requestId: request_id ?? undefined };
  return new CodedError("NOT_ALLOWED", `${request_id ?? local_id} ${reason}`, facts);
}

async function reportRemoved(ctx: Context, entries: readonly HistoryEntry[], skipped: number): Promise<void> {
  const { reporter } = ctx;
  if (skipped > 0) {
    const remaining = skipped === 1 ? "1 request is kept" : `${skipped} requests are kept`;
    await reporter.writeNotice(
      "NOT_FORGOTTEN",
      `${remaining} because the outcome is unknown, the request has not ended, or it was sent in the last hour`,
    );
  }
  if (entries.length > 0)
    await reporter.writeNotice("BATCH_FOLDERS", "results in batch folders are not changed");
  const names = entries.map(({ request_id, local_id }) => ({ request_id, local_id }));
  const lines = names.map(({ request_id, local_id }) => `${request_id ?? local_id}\tFORGOTTEN\n`);
  await reporter.show({ forgotten: names, skipped }, lines.join(""));
}
