import { join } from "node:path";
import { AppendLog } from "./append-log.js";
import type { History } from "./history.js";
import { type HistoryEntry, NOT_CREATED } from "./records.js";

/**
 * The outcome of the create with this local id: its entry (status `UNKNOWN` for an unknown outcome), "dismissed" if the
 * history records that, undefined if the history in `folder` has no record of the create.
 */
export function outcomeOf(
  history: History,
  folder: string,
  localId: string,
): HistoryEntry | "dismissed" | undefined {
  const entry = history.find(localId).find(({ local_id }) => local_id === localId);
  if (entry) return entry.status === NOT_CREATED ? "dismissed" : entry;
  for (const line of new AppendLog(join(folder, "history.jsonl")).lines(`"${localId}"`))
    if (line.kind === "dismissed" && line.local_id === localId) return "dismissed";
  return undefined;
}
