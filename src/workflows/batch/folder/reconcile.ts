import { type HistoryEntry, UNKNOWN } from "../../../store/history/records.js";
import type { KnownRow } from "./journal.js";

/**
 * Settles rows that were begun and whose outcome the journal does not have: a command died between the two, or
 * the outcome is unknown. `settled` asks the history for the create that has this local id; undefined means that
 * the history does not know it, and the row stays open, which is an unknown outcome.
 */
export function reconcile(
  known: ReadonlyMap<string, KnownRow>,
  settled: (localId: string) => HistoryEntry | "dismissed" | undefined,
): Map<string, KnownRow> {
  const reconciled = new Map(known);
  for (const [id, row] of known) {
    if (row.stage === "open" && row.localId !== null)
      reconciled.set(id, afterCreate(row, settled(row.localId)));
  }
  return reconciled;
}

function afterCreate(row: KnownRow, create: HistoryEntry | "dismissed" | undefined): KnownRow {
  if (create === undefined) return row;
  if (create === "dismissed") return { ...row, stage: "free" };
  const { request_id, created_at, sent_at, status } = create;
  if (status === UNKNOWN || request_id === null) return row;
  return {
    ...row,
    ...{ stage: "created", requestId: request_id, createdAt: created_at, sentAt: sent_at, status },
  };
}
