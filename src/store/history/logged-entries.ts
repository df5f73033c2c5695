import type { AppendLog } from "./append-log.js";
import { entryOf, type HistoryEntry, notCreatedEntry, type SeenRecord } from "./records.js";

/**
 * Requests in the log, the newest first, each in the state last seen, and creates that were settled as never made.
 * With `needle`, only lines that contain it are looked at.
 */
export function* loggedEntries(log: AppendLog, needle?: string): Generator<HistoryEntry> {
  const states = new Map<string, SeenRecord>();
  for (const line of log.lines(needle)) {
    if (line.kind === "status" && !states.has(line.request_id)) states.set(line.request_id, line);
    if (line.kind === "created") yield entryOf(line, states.get(line.request_id));
    if (line.kind === "not-created") yield notCreatedEntry(line);
  }
}
