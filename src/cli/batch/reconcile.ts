import { outcomeOf } from "../../store/history/outcome-of.js";
import { UNKNOWN } from "../../store/history/records.js";
import type { Context } from "../context.js";
import type { Known } from "./journal.js";

/**
 * What became of rows that were begun and have no end in the journal: a command died between the two, or their
 * outcome is unknown. The history knows those that exist, and those that were settled since; where it does not,
 * the row stays open, which is an unknown outcome.
 */
export function reconcile(ctx: Context, known: ReadonlyMap<string, Known>): Map<string, Known> {
  const settled = new Map(known);
  for (const [id, before] of known) if (before.stage === "open") settled.set(id, settle(ctx, before));
  return settled;
}

function settle({ history, folders }: Context, known: Known): Known {
  if (!history || !folders.state || known.localId === null) return known;
  const fate = outcomeOf(history, folders.state, known.localId);
  if (fate === undefined) return known;
  if (fate === "not made") return { ...known, stage: "free" };
  if (fate.status === UNKNOWN || fate.request_id === null) return known;
  const { request_id, created_at, sent_at, status } = fate;
  return {
    ...known,
    stage: "created",
    requestId: request_id,
    createdAt: created_at,
    sentAt: sent_at,
    status,
  };
}
