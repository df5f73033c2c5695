import type { HistoryEntry } from "../../../store/history/records.js";
import { safe, safeJson, safeLine } from "../../../text/safe-text.js";
import { dollars, statusWord } from "../../requests/status-text.js";
import type { Style } from "../../terminal/style.js";

/** Everything of one entry, a field a line, the prompt last. */
export function entryDetails(entry: HistoryEntry, style: Style): string {
  const field = (name: string, value: string | null) => `${style.dim(name.padEnd(12))} ${value ?? "-"}`;
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
    ...(entry.cut_short ? [field("cut short", "yes: research output --partial prints what there is")] : []),
    field("structured", entry.structured_output ? "yes" : "no"),
    ...(entry.output_schema ? [field("schema", safeJson(entry.output_schema))] : []),
    "",
    safe(entry.prompt).replace(/^/gm, "  "),
    "",
  ].join("\n");
}
