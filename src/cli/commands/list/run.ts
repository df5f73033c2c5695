import { requireConnection } from "../../../app/resolve-settings.js";
import { checkStatusFilter } from "../../../app/status-filter.js";
import { type HistoryEntry, UNKNOWN } from "../../../client/store/history/history-records.js";
import { fetchStates, type NamedTarget } from "../../../client/workflows/find-and-query-requests.js";
import { parseBaseUrl } from "../../../core/http/base-url-and-proxy.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { formatCount } from "../../../core/text/format-text.js";
import type { Context } from "../../command-context.js";
import { pickWorstExit, showFailure } from "../../requests/exit-codes.js";
import { formatEntryRow, formatTableFor, NOTHING_YET } from "../../requests/request-table.js";
import { warnOfUnrecordedState } from "../../requests/show-states.js";

export async function listRecordedRequests(
  ctx: Context,
  options: { limit: number; status?: string; search?: string; since?: number; refresh?: boolean },
): Promise<number> {
  const { reporter, host } = ctx;
  const origin = describeFilter(ctx);
  await checkStatusFilter(options.status, ctx.history);
  const wanted = options.status?.toUpperCase();
  const words = options.search?.toLowerCase().split(/\s+/) ?? [];
  const from = options.since === undefined ? Number.NEGATIVE_INFINITY : host.clock.now() - options.since;
  const isListed = ({ prompt, ...entry }: HistoryEntry) =>
    (origin === undefined || entry.origin === origin) &&
    Date.parse(entry.sent_at) >= from &&
    words.every((word) => prompt.toLowerCase().includes(word));
  // A refresh may change the status, so filter by status after the refresh, and apply the limit last.
  const filtersLater = options.refresh && wanted !== undefined;
  const limit = filtersLater ? Number.POSITIVE_INFINITY : options.limit;
  const status = options.refresh ? undefined : wanted;
  const matching = ctx.history?.list({ limit, accepts: isListed, status }) ?? [];
  const code = options.refresh ? await refreshStates(ctx, matching) : 0;
  const entries = matching
    .filter((entry) => wanted === undefined || entry.status.toUpperCase() === wanted)
    .slice(0, options.limit);
  const formatRows = () => entries.map((entry) => `${formatEntryRow(entry)}\n`).join("");
  await reporter.show(
    entries,
    host.stdout.isTTY ? await formatTableFor(host.stdout, ctx, entries) : formatRows(),
  );
  if (entries.length === 0 && host.stdout.isTTY)
    await reporter.say(ctx.history?.findNewest(() => true) ? "no matching requests" : NOTHING_YET);
  return code;
}

function describeFilter(ctx: Context): string | undefined {
  const { baseUrl, profile } = ctx.flags;
  if (baseUrl === undefined && profile === undefined) return undefined;
  const url = ctx.settings.baseUrl?.value;
  return url === undefined ? undefined : parseBaseUrl(url, true).origin;
}

/** Updates the entries that were still running at the origin in use. Reports each whose state the service did not return. */
async function refreshStates(ctx: Context, entries: readonly HistoryEntry[]): Promise<number> {
  const { origin } = requireConnection(ctx.settings);
  const running = entries.filter(
    ({ status, request_id }) => request_id !== null && status !== UNKNOWN && !isFinal(status),
  );
  const elsewhere = running.filter((entry) => entry.origin !== origin).length;
  if (elsewhere > 0) {
    await ctx.reporter.writeNotice(
      "NOT_REFRESHED",
      `${formatCount(elsewhere, "request")} of other origins not refreshed; name an origin with --profile or --base-url`,
    );
  }
  const targets = running.flatMap((entry): NamedTarget[] => {
    if (entry.origin !== origin || entry.request_id === null) return [];
    return [{ requestId: entry.request_id, entry, account: ctx.findAccount(entry) ?? ctx }];
  });
  const codes: number[] = [];
  for (const answer of await fetchStates(targets, { signal: ctx.signal })) {
    if (answer.kind === "failed")
      codes.push(await showFailure(ctx.reporter, answer.error, answer.target.requestId));
    else {
      if (answer.target.entry) answer.target.entry.status = answer.data.status;
      await warnOfUnrecordedState(ctx.reporter, answer.notObserved);
    }
  }
  return pickWorstExit(codes);
}
