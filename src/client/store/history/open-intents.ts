import * as fs from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import {
  listNames,
  makeFolder,
  overwrite,
  readIfThere,
  replaceFile,
  UnfitFileError,
} from "../../../core/files/files.js";
import { MAX_RECORD_BYTES } from "../../../core/files/lines-backward.js";
import { describeThisProcess, type Holder, parseHolder } from "../../../core/files/lock/holder.js";
import { stringifyExact } from "../../../core/json/exact-json.js";
import { isUnreadable } from "./log.js";
import {
  type CreatedRecord,
  created,
  type HistoryEntry,
  type Intent,
  id,
  intent,
  recordIn,
  UNKNOWN,
} from "./records.js";

/** Space reserved for an outcome beside its intent: overwriting needs no new space, so an id can be kept on a full disk. */
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
  /** The process that sends it; undefined if that process has stopped waiting, or is unknown. */
  sender?: Holder | undefined;
}

/** A file for each create without an outcome in the log: a line each for intent, outcome and sending process. */
export class OpenIntents {
  constructor(private readonly folder: string) {}

  /** Writes an intent whole and synced. Throws the system's error, or UnsyncedError; then the intent is not there. */
  add(record: Intent): void {
    makeFolder(this.folder);
    try {
      const lines = [stringifyExact(record), " ".repeat(ROOM), JSON.stringify(describeThisProcess()), ""];
      replaceFile(this.#buildPath(record.local_id), lines.join("\n"));
    } catch (error) {
      this.remove(record.local_id);
      throw error;
    }
  }

  /** Keeps an outcome beside its intent, in the room made for it. */
  note(record: Intent, outcome: CreateOutcome): void {
    // Leave out the service's message if it does not fit; the necessary fields always do.
    const whole = JSON.stringify(outcome);
    const { request_id, confirmed, at } = outcome;
    const text = whole.length < ROOM ? whole : JSON.stringify({ request_id, confirmed, at });
    overwrite(this.#buildPath(record.local_id), measureRoom(record), text.padEnd(ROOM - 1));
  }

  /** Removes the sender from an intent whose outcome will never arrive. Throws the system's error. */
  recordGivenUp(record: Intent): void {
    // Without its first character the line is not JSON, and a single byte is never written in part.
    if (readIfThere(this.#buildPath(record.local_id), MAX_RECORD_BYTES) !== undefined)
      overwrite(this.#buildPath(record.local_id), measureRoom(record) + ROOM + 1, " ");
  }

  /** Returns whether the intent is gone. */
  remove(localId: string): boolean {
    try {
      fs.rmSync(this.#buildPath(localId), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  /** Reads all intents, and counts torn files: nothing was sent for those, since their intents were incomplete. */
  read(): { open: OpenIntent[]; torn: number } {
    const names = listNames(this.folder).filter((name) => name.endsWith(".json"));
    const texts = names.map((name) => readIntentText(join(this.folder, basename(name))));
    // Another process removes its intent when the outcome is in the log, so a file may be gone since it was listed.
    const read = texts.filter((text) => text !== undefined).map(openIntentIn);
    return { open: read.filter((entry) => entry !== undefined), torn: read.filter((entry) => !entry).length };
  }

  #buildPath(localId: string): string {
    return join(this.folder, `${localId}.json`);
  }
}

/** Returns the offset of the second line, in bytes. */
function measureRoom(record: Intent): number {
  return Buffer.byteLength(stringifyExact(record)) + 1;
}

function openIntentIn(text: string): OpenIntent | undefined {
  const [first = "", second = "", third = ""] = text.split("\n");
  const record = parse(intent, first);
  return record && { intent: record, outcome: parse(outcome, second), sender: parseHolder(third) };
}

/** Reads an intent's file; undefined if it does not exist, empty if it cannot be read. */
function readIntentText(path: string): string | undefined {
  try {
    return readIfThere(path, MAX_RECORD_BYTES);
  } catch (error) {
    if (error instanceof UnfitFileError || isUnreadable(error)) return "";
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

/** Builds an entry with an unknown outcome, and the id that was salvaged from a broken answer, if any. */
export function buildUnknownEntry({ intent: { kind: _, ...rest }, outcome }: OpenIntent): HistoryEntry {
  return { ...rest, request_id: outcome?.request_id ?? null, status: UNKNOWN, created_at: null };
}

function parse<T extends v.GenericSchema>(schema: T, text: string): v.InferOutput<T> | undefined {
  const result = v.safeParse(schema, recordIn(text));
  return result.success ? result.output : undefined;
}
