import { join } from "node:path";
import { Log } from "./append-log.js";
import type { History } from "./history.js";
import type { Entry } from "./records.js";

/**
 * What became of a create that was begun under `localId`: its entry (`UNKNOWN` where nobody has seen the
 * outcome), "not made" where that is on record, undefined where the history in `folder` has never heard of it
 * or kept no record of its end.
 */
export function fateOf(history: History, folder: string, localId: string): Entry | "not made" | undefined {
  const entry = history.find(localId).find(({ local_id }) => local_id === localId);
  if (entry) return entry;
  for (const line of new Log(join(folder, "history.jsonl")).lines(`"${localId}"`))
    if (line.kind === "dismissed" && line.local_id === localId) return "not made";
  return undefined;
}
