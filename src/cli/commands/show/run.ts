import { isObject } from "../../../json/exact-json.js";
import type { HistoryEntry } from "../../../store/history/history.js";
import { dollars, usageWords } from "../../../text/research-progress.js";
import { safe, safeJson, safeLine } from "../../../text/safe-text.js";
import { requireEntry } from "../../../workflows/requests.js";
import { keptResult } from "../../../workflows/results.js";
import type { Context } from "../../context.js";
import { statusWord } from "../../requests/answers.js";
import type { Style } from "../../terminal/reporter.js";

/** Everything the history holds of one request, and what its kept result says of its cost and its sources. */
export async function show(ctx: Context, id: string): Promise<number> {
  const found = requireEntry(ctx.ports, id);
  const { request_id: requestId, origin } = found;
  const kept =
    requestId === null
      ? undefined
      : keptResult({ history: ctx.ports.history, origin }, { requestId, entry: found });
  const entry: ShownEntry = {
    ...found,
    ...(typeof kept?.cost_dollars === "number" && { cost_dollars: kept.cost_dollars }),
    ...(kept?.usage !== undefined && { usage: kept.usage }),
    ...(Array.isArray(kept?.sources) && { sources: kept.sources }),
  };
  await ctx.reporter.show(entry, entryDetails(entry, await ctx.reporter.style()));
  return 0;
}

/** An entry with what its kept result says; `usage` and `sources` are the service's, so they may be anything. */
export interface ShownEntry extends HistoryEntry {
  usage?: unknown;
  sources?: readonly unknown[];
}

/** Everything of one entry, a field a line, the prompt last. */
export function entryDetails(entry: ShownEntry, style: Style): string {
  const field = (name: string, value: string | null) => `${style.dim(name.padEnd(12))} ${value ?? "-"}`;
  const used = usageWords(entry.usage);
  return [
    field("request id", entry.request_id),
    field("local id", entry.local_id),
    field("status", statusWord(entry.status, style)),
    field("created", entry.created_at && safeLine(entry.created_at)),
    field("sent", safeLine(entry.sent_at)),
    field("origin", safeLine(entry.origin)),
    field("profile", entry.profile && safeLine(entry.profile)),
    ...(entry.model === undefined ? [] : [field("model", safeLine(entry.model))]),
    ...(entry.options ? [field("options", safeJson(entry.options))] : []),
    ...(entry.after === undefined ? [] : [field("after", safeLine(entry.after))]),
    ...(entry.cost_dollars === undefined ? [] : [field("cost", dollars(entry.cost_dollars))]),
    ...(used === undefined ? [] : [field("usage", used)]),
    ...(entry.message === undefined ? [] : [field("message", safeLine(entry.message))]),
    ...(entry.cut_short ? [field("cut short", "yes: research output --partial prints what there is")] : []),
    field("structured", entry.structured_output ? "yes" : "no"),
    ...(entry.output_schema ? [field("schema", safeJson(entry.output_schema))] : []),
    ...(entry.sources ?? []).map((source) => field("source", sourceWords(source))),
    "",
    safe(entry.prompt).replace(/^/gm, "  "),
    "",
  ].join("\n");
}

function sourceWords(source: unknown): string {
  const { title, url, file } = isObject(source) ? source : {};
  const parts = [title, url ?? file].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? safeJson(source) : safeLine(parts.join(", "));
}
