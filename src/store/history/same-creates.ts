import type { Holder } from "../../lock/holder.js";
import { type AppendLog, loggedEntries } from "./append-log.js";
import { type OpenIntent, unknownEntry } from "./open-intents.js";
import { type Attempt, createName, type HistoryEntry, keyId, NOT_CREATED } from "./records.js";

/** A create, by what makes two creates the same. */
export type WantedCreate = Pick<Attempt, "origin" | "apiKey" | "body">;

/** A create without an outcome; `sender` is the process that waits for one, undefined if none does. */
export interface UnsettledCreate {
  entry: HistoryEntry;
  sender: Holder | undefined;
}

export interface SameCreates {
  /** The requests that exist, the newest first. */
  made: HistoryEntry[];
  unsettled: UnsettledCreate[];
}

/** The entries that are looked at after one that is too old: a clock that was set back for a while hides no others. */
const OLD_ENTRIES = 1_000;

/**
 * The creates in the history that have the origin, the key, the prompt and the schema of `wanted`: those made since
 * `since` (epoch ms), and those without an outcome, of any age.
 */
export function sameCreates(
  log: AppendLog,
  { unknown, found }: { unknown: readonly OpenIntent[]; found: readonly HistoryEntry[] },
  wanted: WantedCreate,
  since: number,
): SameCreates {
  const name = wantedName(wanted);
  const { prompt } = wanted.body;
  const isSame = (entry: HistoryEntry) => entry.prompt === prompt && createName(entry) === name;
  const made = new Map(found.filter(isSame).map((entry) => [entry.local_id, entry]));
  let old = 0;
  for (const entry of loggedEntries(log)) {
    old = sentAt(entry) < since ? old + 1 : 0;
    if (old > OLD_ENTRIES) break;
    if (entry.status !== NOT_CREATED && isSame(entry)) made.set(entry.local_id, entry);
  }
  return {
    made: [...made.values()].filter((entry) => sentAt(entry) >= since).sort((a, b) => sentAt(b) - sentAt(a)),
    unsettled: unknown
      .map((open) => ({ entry: unknownEntry(open), sender: open.sender }))
      .filter(({ entry }) => isSame(entry)),
  };
}

/** `createName` of a create that is yet to be sent. */
export function wantedName({ origin, apiKey, body }: WantedCreate): string {
  return createName({ origin, key_id: keyId(apiKey), ...body });
}

function sentAt(entry: HistoryEntry): number {
  return Date.parse(entry.sent_at);
}
