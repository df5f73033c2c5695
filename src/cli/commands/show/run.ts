import { readKeptOutcome } from "../../../app/kept-check-outcome.js";
import {
  getServiceAddress,
  type HistoryEntry,
  UNKNOWN,
} from "../../../client/store/history/history-records.js";
import type { RowCheck } from "../../../client/workflows/batch/batch-journal.js";
import { readKeptResult } from "../../../client/workflows/fetch-results.js";
import { requireEntry } from "../../../client/workflows/find-and-query-requests.js";
import { isObject } from "../../../core/json/exact-json.js";
import { describeUsage, formatDollars } from "../../../core/text/describe-progress.js";
import { escapeLine, escapeText, stringifySafe } from "../../../core/text/safe-text.js";
import { formatDuration } from "../../../core/text/time-format.js";
import type { Context } from "../../command-context.js";
import { formatCitationCounts } from "../../requests/format-check.js";
import { chooseRequestIds } from "../../requests/request-prompts.js";
import { describeContext, formatStatusWord } from "../../requests/show-states.js";
import type { Style } from "../../terminal/style.js";

/** Prints the history's record of a request, with cost and sources from its kept result. */
export async function show(ctx: Context, given: string | undefined): Promise<void> {
  const [id = ""] = await chooseRequestIds(ctx, given ? [given] : []);
  const recorded = requireEntry(ctx, id);
  const { request_id: requestId } = recorded;
  const target = requestId === null ? undefined : { requestId, entry: recorded, account: ctx };
  const result = target && readKeptResult(target);
  const { checked_at, counts, metrics } = (target && readKeptOutcome(target)) ?? {};
  const entry: ShownEntry = {
    ...recorded,
    ...(checked_at !== undefined && counts && { check: { checked_at, counts, metrics } }),
    ...(typeof result?.cost_dollars === "number" && { cost_dollars: result.cost_dollars }),
    ...(result?.usage !== undefined && { usage: result.usage }),
    ...(Array.isArray(result?.sources) && { sources: result.sources }),
  };
  await ctx.reporter.showFitted(entry, formatShownEntry(entry, await ctx.reporter.loadStyle()));
}

/** An entry with data from its kept result. `usage` and `sources` come from the service, so they may have any type. */
export interface ShownEntry extends HistoryEntry {
  usage?: unknown;
  sources?: readonly unknown[];
  check?: RowCheck;
}

export function formatShownEntry(entry: ShownEntry, style: Style): string {
  const { request_id, status, duration_ms, cost_dollars, output_schema: schema } = entry;
  const why =
    entry.message ?? (status === "FAILED" && "not recorded; run `research output` to ask the service");
  const fields: Record<string, string | null | undefined | false> = {
    "request id": request_id,
    "local id": entry.local_id,
    status: formatStatusWord(status, style),
    [status === "FAILED" ? "why" : "message"]: why,
    created: entry.created_at,
    sent: entry.sent_at,
    ended: entry.ended_at,
    took: duration_ms !== undefined && formatDuration(duration_ms),
    origin: getServiceAddress(entry),
    profile: entry.profile,
    model: entry.model,
    options: entry.options && stringifySafe(entry.options),
    after: entry.after,
    context: describeContext(entry.context ?? []),
    cost: cost_dollars !== undefined && formatDollars(cost_dollars),
    usage: describeUsage(entry.usage),
    next:
      status === UNKNOWN &&
      `research resolve ${entry.local_id} --request-id ID, or --not-created if it does not exist`,
    "cut short": entry.cut_short && "research output --partial prints the part that exists",
    structured: entry.structured_output && !schema && "yes",
    schema: schema && stringifySafe(schema),
    checked: entry.check && `${formatCitationCounts(entry.check.counts)}, at ${entry.check.checked_at}`,
  };
  const rows = Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : []));
  for (const source of entry.sources ?? []) rows.push(["source", formatSource(source)]);
  const lines = rows.map(
    ([name = "", value = ""]) =>
      `${style.dim(name.padEnd(12))} ${name === "status" ? value : escapeLine(value)}`,
  );
  return [...lines, "", escapeText(entry.prompt).replace(/^/gm, "  "), ""].join("\n");
}

function formatSource(source: unknown): string {
  const { title, url, file } = isObject(source) ? source : {};
  const parts = [title, url ?? file].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? stringifySafe(source) : escapeLine(parts.join(", "));
}
