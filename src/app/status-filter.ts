import type { History } from "../client/store/history/history.js";
import { UNKNOWN } from "../client/store/history/history-records.js";
import { STATUSES } from "../core/protocol/conversation.js";
import { UsageError } from "./errors.js";

/** Throws UsageError for a state, in upper or lower case, that is unknown to the interface, the providers and the history. */
export async function checkStatusFilter(
  status: string | undefined,
  history: History | undefined,
): Promise<void> {
  const ours = [...STATUSES, UNKNOWN];
  const isThere = (words: readonly string[]) =>
    words.some((word) => word.toUpperCase() === status?.toUpperCase());
  if (status === undefined || isThere(ours) || history?.list({ limit: 1, status }).length) return;
  const { STATES } = await import("../client/dialects/read-response.js");
  if (isThere([...STATES.keys()])) return;
  const recorded = (history?.list({ limit: Number.POSITIVE_INFINITY }) ?? []).map((entry) => entry.status);
  const theirs = [...STATES.keys()].filter((word) => !ours.some((state) => state === word.toUpperCase()));
  const knownWords = new Set([...ours, ...recorded, ...theirs]);
  throw new UsageError(
    `unknown state ${JSON.stringify(status)}`,
    `The states are: ${[...knownWords].join(", ")}.`,
  );
}
