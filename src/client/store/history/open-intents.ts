import * as fs from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import {
  listFolder,
  makePrivateFolder,
  overwriteBytes,
  readIfExists,
  replaceFile,
  UnsuitableFileError,
} from "../../../core/files/file-access.js";
import {
  describeThisProcessAsHolder,
  type LockHolder,
  parseLockHolder,
} from "../../../core/files/file-lock/holder.js";
import { MAX_RECORD_BYTES } from "../../../core/files/read-lines-backward.js";
import { stringifyExact } from "../../../core/json/exact-json.js";
import { isUnreadableHistory } from "./append-log.js";
import {
  type CreatedRecord,
  created,
  type HistoryEntry,
  type Intent,
  id,
  intent,
  parseRecord,
  UNKNOWN,
} from "./history-records.js";

/** Bytes reserved for the outcome beside its intent. Overwriting them needs no new space, so an id can be kept even on a full disk. */
const ROOM = 1_024;

const outcome = v.looseObject({
  request_id: id,
  /** False if the id was only found in an answer that was not a success. */
  confirmed: v.boolean(),
  status: v.fallback(v.string(), "PENDING"),
  created_at: v.fallback(v.nullable(v.string()), null),
  interaction_id: v.fallback(v.optional(v.string()), undefined),
  at: v.string(),
});
export type CreateOutcome = v.InferOutput<typeof outcome>;

export interface OpenIntent {
  intent: Intent;
  outcome: CreateOutcome | undefined;
  /** The process that sends the create call; undefined if it no longer waits for the outcome, or is unknown. */
  sender?: LockHolder | undefined;
}

/** The folder with a file for each create call without an outcome in the log. Its lines are the intent, the outcome and the sending process. */
export class OpenIntents {
  constructor(private readonly folder: string) {}

  /** Writes an intent, complete and synced. If it throws (the system's error, or UnsyncedError), the intent does not exist. */
  add(record: Intent): void {
    makePrivateFolder(this.folder);
    try {
      const lines = [
        stringifyExact(record),
        " ".repeat(ROOM),
        JSON.stringify(describeThisProcessAsHolder()),
        "",
      ];
      replaceFile(this.#buildPath(record.local_id), lines.join("\n"));
    } catch (error) {
      this.remove(record.local_id);
      throw error;
    }
  }

  /** Writes an outcome into the space reserved beside its intent. */
  note(record: Intent, outcome: CreateOutcome): void {
    // If the whole outcome does not fit, write only the necessary fields, which always fit.
    const whole = JSON.stringify(outcome);
    const { request_id, confirmed, at } = outcome;
    const text = whole.length < ROOM ? whole : JSON.stringify({ request_id, confirmed, at });
    overwriteBytes(this.#buildPath(record.local_id), findOutcomeOffset(record), text.padEnd(ROOM - 1));
  }

  /** Removes the sending process from an intent for whose outcome this process no longer waits. Throws the system's error. */
  recordGivenUp(record: Intent): void {
    // Without its first character the line is not JSON. A single byte is written completely or not at all.
    if (readIfExists(this.#buildPath(record.local_id), MAX_RECORD_BYTES) !== undefined)
      overwriteBytes(this.#buildPath(record.local_id), findOutcomeOffset(record) + ROOM + 1, " ");
  }

  /** Removes an intent. Returns whether that succeeded. */
  remove(localId: string): boolean {
    try {
      fs.rmSync(this.#buildPath(localId), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  /** Reads all intents, and counts torn files. Nothing was sent for a torn file, because the intent is complete before sending. */
  read(): { open: OpenIntent[]; torn: number } {
    const names = listFolder(this.folder).filter((name) => name.endsWith(".json"));
    const texts = names.map((name) => readIntentFile(join(this.folder, basename(name))));
    // Another process removes its intent once the outcome is in the log, so a listed file may be gone.
    const read = texts.filter((text) => text !== undefined).map(parseIntentFile);
    return { open: read.filter((entry) => entry !== undefined), torn: read.filter((entry) => !entry).length };
  }

  #buildPath(localId: string): string {
    return join(this.folder, `${localId}.json`);
  }
}

/** Returns the offset in bytes of the second line, which is reserved for the outcome. */
function findOutcomeOffset(record: Intent): number {
  return Buffer.byteLength(stringifyExact(record)) + 1;
}

function parseIntentFile(text: string): OpenIntent | undefined {
  const [first = "", second = "", third = ""] = text.split("\n");
  const record = parseWithSchema(intent, first);
  return (
    record && { intent: record, outcome: parseWithSchema(outcome, second), sender: parseLockHolder(third) }
  );
}

/** Reads the file of an intent; undefined if it does not exist, an empty text if it cannot be read. */
function readIntentFile(path: string): string | undefined {
  try {
    return readIfExists(path, MAX_RECORD_BYTES);
  } catch (error) {
    if (error instanceof UnsuitableFileError || isUnreadableHistory(error)) return "";
    throw error;
  }
}

/** Builds the log's record of an intent with a confirmed outcome. */
export function buildCreatedRecord(
  { kind: _, ...record }: Intent,
  { confirmed: __, ...outcome }: CreateOutcome,
): CreatedRecord {
  return v.parse(created, { kind: "created", ...record, ...outcome });
}

/** Builds the entry of a create call with an unknown outcome, with the id that was found in a broken answer, if any. */
export function buildUnknownEntry({ intent: { kind: _, ...rest }, outcome }: OpenIntent): HistoryEntry {
  return { ...rest, request_id: outcome?.request_id ?? null, status: UNKNOWN, created_at: null };
}

function parseWithSchema<T extends v.GenericSchema>(schema: T, text: string): v.InferOutput<T> | undefined {
  const result = v.safeParse(schema, parseRecord(text));
  return result.success ? result.output : undefined;
}
