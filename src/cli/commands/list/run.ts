import { checkStatus } from "../../../app/known-status.js";
import { requireConnection } from "../../../app/settings.js";
import { type HistoryEntry, UNKNOWN } from "../../../client/store/history/records.js";
import { askStates, type NamedTarget } from "../../../client/workflows/requests.js";
import { parseBaseUrl } from "../../../core/http/address.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { counted } from "../../../core/text/phrases.js";
import type { Context } from "../../context.js";
import { sayNotObserved, showFailure, worstOf } from "../../requests/answers.js";
import { entryRow, NOTHING_YET, tableOn } from "../../requests/table.js";

export async function list(
  ctx: Context,
  options: { limit: number; status?: string; search?: string; since?: number; refresh?: boolean },
): Promise<number> {
  const { reporter, host } = ctx;
  const origin = narrowed(ctx);
  await checkStatus(options.status, ctx.history);
  const wanted = options.status?.toUpperCase();
  const words = options.search?.toLowerCase().split(/\s+/) ?? [];
  const from = options.since === undefined ? Number.NEGATIVE_INFINITY : host.clock.now() - options.since;
  const accepts = ({ prompt, ...entry }: HistoryEntry) =>
    (origin === undefined || entry.origin === origin) &&
    Date.parse(entry.sent_at) >= from &&
    words.every((word) => prompt.toLowerCase().includes(word));
  // A status may change by being refreshed, so its filter waits for that, and the limit for the filter.
  const filtersLater = options.refresh && wanted !== undefined;
  const limit = filtersLater ? Number.POSITIVE_INFINITY : options.limit;
  const status = options.refresh ? undefined : wanted;
  const found = ctx.history?.list({ limit, accepts, status }) ?? [];
  const code = options.refresh ? await refresh(ctx, found) : 0;
  const entries = found
    .filter((entry) => wanted === undefined || entry.status.toUpperCase() === wanted)
    .slice(0, options.limit);
  const rows = () => entries.map((entry) => `${entryRow(entry)}\n`).join("");
  await reporter.show(entries, host.stdout.isTTY ? await tableOn(host.stdout, ctx, entries) : rows());
  if (entries.length === 0 && host.stdout.isTTY)
    await reporter.say(ctx.history?.newest(() => true) ? "no matching requests" : NOTHING_YET);
  return code;
}

function narrowed(ctx: Context): string | undefined {
  const { baseUrl, profile } = ctx.flags;
  if (baseUrl === undefined && profile === undefined) return undefined;
  const url = ctx.settings.baseUrl?.value;
  return url === undefined ? undefined : parseBaseUrl(url, true).origin;
}

/** Puts the state of those that still ran at the origin in force into their entries, and says each that cannot be learned. */
async function refresh(ctx: Context, entries: readonly HistoryEntry[]): Promise<number> {
  const { origin } = requireConnection(ctx.settings);
  const running = entries.filter(
    ({ status, request_id }) => request_id !== null && status !== UNKNOWN && !isFinal(status),
  );
  const elsewhere = running.filter((entry) => entry.origin !== origin).length;
  if (elsewhere > 0) {
    await ctx.reporter.notice(
      "NOT_REFRESHED",
      `${counted(elsewhere, "request")} of another origin not asked for; --profile or --base-url names another origin`,
    );
  }
  const targets = running.flatMap((entry): NamedTarget[] => {
    if (entry.origin !== origin || entry.request_id === null) return [];
    return [{ requestId: entry.request_id, entry, at: ctx.accountOf(entry) }];
  });
  const codes: number[] = [];
  for (const answer of await askStates(ctx, targets, { signal: ctx.signal })) {
    if (answer.kind === "failed")
      codes.push(await showFailure(ctx.reporter, answer.error, answer.target.requestId));
    else {
      if (answer.target.entry) answer.target.entry.status = answer.data.status;
      await sayNotObserved(ctx.reporter, answer.notObserved);
    }
  }
  return worstOf(codes);
}
