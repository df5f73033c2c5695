import { keptCheck } from "../../../app/check.js";
import { type HistoryEntry, serviceOf, UNKNOWN } from "../../../client/store/history/records.js";
import type { RowCheck } from "../../../client/workflows/batch/journal.js";
import { requireEntry } from "../../../client/workflows/requests.js";
import { keptResult } from "../../../client/workflows/results.js";
import { isObject } from "../../../core/json/exact-json.js";
import { formatDuration } from "../../../core/text/duration.js";
import { dollars, usageWords } from "../../../core/text/research-progress.js";
import { safe, safeJson, safeLine } from "../../../core/text/safe-text.js";
import type { Context } from "../../context.js";
import { describeContext, statusWord } from "../../requests/answers.js";
import { citationsText } from "../../requests/check-text.js";
import { idsOrChosen } from "../../requests/table.js";
import type { Style } from "../../terminal/style.js";

/** Everything the history holds of one request, and what its kept result says of its cost and its sources. */
export async function show(ctx: Context, given: string | undefined): Promise<void> {
  const [id = ""] = await idsOrChosen(ctx, given ? [given] : []);
  const found = requireEntry(ctx, id);
  const { request_id: requestId, origin, base_path: basePath } = found;
  const site = { history: ctx.history, origin, basePath };
  const kept = requestId === null ? undefined : keptResult(site, { requestId, entry: found });
  const { checked_at, counts, metrics } = (requestId && keptCheck(site, requestId)) || {};
  const entry: ShownEntry = {
    ...found,
    ...(checked_at !== undefined && counts && { check: { checked_at, counts, metrics } }),
    ...(typeof kept?.cost_dollars === "number" && { cost_dollars: kept.cost_dollars }),
    ...(kept?.usage !== undefined && { usage: kept.usage }),
    ...(Array.isArray(kept?.sources) && { sources: kept.sources }),
  };
  await ctx.reporter.showFitted(entry, entryDetails(entry, await ctx.reporter.style()));
}

/** An entry with what its kept result says; `usage` and `sources` are the service's, so they may be anything. */
export interface ShownEntry extends HistoryEntry {
  usage?: unknown;
  sources?: readonly unknown[];
  check?: RowCheck;
}

export function entryDetails(entry: ShownEntry, style: Style): string {
  const { request_id, status, duration_ms, cost_dollars, output_schema: schema } = entry;
  const why = entry.message ?? (status === "FAILED" && "not recorded: `research output` asks the service");
  const fields: Record<string, string | null | undefined | false> = {
    "request id": request_id,
    "local id": entry.local_id,
    status: statusWord(status, style),
    [status === "FAILED" ? "why" : "message"]: why,
    created: entry.created_at,
    sent: entry.sent_at,
    ended: entry.ended_at,
    took: duration_ms !== undefined && formatDuration(duration_ms),
    origin: serviceOf(entry),
    profile: entry.profile,
    model: entry.model,
    options: entry.options && safeJson(entry.options),
    after: entry.after,
    context: describeContext(entry.context ?? []),
    cost: cost_dollars !== undefined && dollars(cost_dollars),
    usage: usageWords(entry.usage),
    next:
      status === UNKNOWN &&
      `research resolve ${entry.local_id} --request-id ID, or --not-created if it does not exist`,
    "cut short": entry.cut_short && "research output --partial prints what there is",
    structured: entry.structured_output && !schema && "yes",
    schema: schema && safeJson(schema),
    checked: entry.check && `${citationsText(entry.check.counts)}, at ${entry.check.checked_at}`,
  };
  const rows = Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : []));
  for (const source of entry.sources ?? []) rows.push(["source", sourceWords(source)]);
  const lines = rows.map(
    ([name = "", value = ""]) =>
      `${style.dim(name.padEnd(12))} ${name === "status" ? value : safeLine(value)}`,
  );
  return [...lines, "", safe(entry.prompt).replace(/^/gm, "  "), ""].join("\n");
}

function sourceWords(source: unknown): string {
  const { title, url, file } = isObject(source) ? source : {};
  const parts = [title, url ?? file].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? safeJson(source) : safeLine(parts.join(", "));
}
