import type { LockHolder } from "../../../core/files/file-lock/holder.js";
import { hashSha256 } from "../../../core/files/local-error.js";
import { isObject } from "../../../core/json/exact-json.js";
import type { ContextFile, JsonSchema } from "../../../core/protocol/conversation.js";
import { type AppendLog, readHistoryEntries } from "./append-log.js";
import {
  type CreateAttempt,
  type HistoryEntry,
  hashApiKey,
  NOT_CREATED,
  pickProviderFields,
} from "./history-records.js";
import { buildUnknownEntry, type OpenIntent } from "./open-intents.js";

/** The fields that two create calls of the same request have in common. */
type NamedCreate = Pick<HistoryEntry, "prompt" | "model" | "options" | "after"> & {
  context?: readonly ContextFile[] | undefined;
  structured_output?: boolean;
  output_schema?: JsonSchema | null;
};

/** Lists the values that are equal in two create calls of the same request. */
function listIdentityValues(create: NamedCreate): unknown[] {
  const { prompt, structured_output = false, output_schema = null } = create;
  const context = create.context?.map(({ name, sha256 }) => [name, sha256]);
  const extra = { ...pickProviderFields(create), ...(context && { context }) };
  return [prompt, structured_output, output_schema, ...(Object.keys(extra).length > 0 ? [extra] : [])];
}

/** Names a create call. Two create calls have the same name if origin, key, prompt, schema and options are equal; the order of a schema's members does not count. */
export function computeDedupKey(create: NamedCreate & Pick<HistoryEntry, "origin" | "key_id">): string {
  return stringifyWithSortedKeys([create.origin, create.key_id, ...listIdentityValues(create)]);
}

/** Computes the digest of a request for the journal of a batch: 24 hexadecimal digits. `profile`: the profile that the row names, if any. */
export function computeRowDigest(create: NamedCreate, profile?: string): string {
  const account = profile === undefined ? [] : [{ profile }];
  return hashSha256(stringifyWithSortedKeys([...listIdentityValues(create), ...account])).slice(0, 24);
}

/** Writes JSON with the members of each object sorted by name, so that equal objects have one text. */
function stringifyWithSortedKeys(value: unknown): string {
  return JSON.stringify(value, (_name, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** What the search for equal create calls in the history compares. */
export type CreateIdentity = Pick<CreateAttempt, "origin" | "apiKey" | "body">;

/** A create call with an unknown outcome. `sender`: the process that still waits for the outcome; undefined if no process does. */
export interface UnsettledCreate {
  entry: HistoryEntry;
  sender: LockHolder | undefined;
}

export interface EqualCreates {
  /** The existing requests, newest first. */
  made: HistoryEntry[];
  unsettled: UnsettledCreate[];
}

/** Number of old entries in a row after which the search ends. One is not enough: if the clock was set back, newer entries may follow. */
const OLD_ENTRIES = 1_000;

/** Finds the create calls that are the same as `wanted`: those sent since `since` (epoch ms), and all with an unknown outcome. */
export function findEqualCreates(
  log: AppendLog,
  { unknown, found: entries }: { unknown: readonly OpenIntent[]; found: readonly HistoryEntry[] },
  wanted: CreateIdentity,
  since: number,
): EqualCreates {
  const name = computeUnsentKey(wanted);
  const { prompt } = wanted.body;
  const isSame = (entry: HistoryEntry) => entry.prompt === prompt && computeDedupKey(entry) === name;
  const made = new Map(entries.filter(isSame).map((entry) => [entry.local_id, entry]));
  let old = 0;
  for (const entry of readHistoryEntries(log)) {
    old = parseSentAt(entry) < since ? old + 1 : 0;
    if (old > OLD_ENTRIES) break;
    if (entry.status !== NOT_CREATED && isSame(entry)) made.set(entry.local_id, entry);
  }
  return {
    made: [...made.values()]
      .filter((entry) => parseSentAt(entry) >= since)
      .sort((a, b) => parseSentAt(b) - parseSentAt(a)),
    unsettled: unknown
      .map((open) => ({ entry: buildUnknownEntry(open), sender: open.sender }))
      .filter(({ entry }) => isSame(entry)),
  };
}

/** Returns the name (see `computeDedupKey`) of a create call that has not been sent yet. */
export function computeUnsentKey({ origin, apiKey, body }: CreateIdentity): string {
  return computeDedupKey({ origin, key_id: hashApiKey(apiKey), ...body });
}

function parseSentAt(entry: HistoryEntry): number {
  return Date.parse(entry.sent_at);
}
