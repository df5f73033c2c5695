import * as fs from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import { exactJson, jsonIn } from "../../json/exact-json.js";
import { type Holder, parseHolder, thisProcess } from "../../lock.js";
import { type Data, isFinal, ownPart } from "../../protocol/conversation.js";
import {
  localError,
  MAX_RECORD_BYTES,
  makeFolder,
  namesIn,
  orLocalError,
  overwrite,
  readIfThere,
  replaceFile,
  UnfitFileError,
} from "../files.js";
import { KeptResults } from "./kept-results.js";
import {
  AppendLog,
  type Attempt,
  type CreatedRecord,
  created,
  createName,
  entryOf,
  type HistoryEntry,
  type HistoryLine,
  type Intent,
  id,
  intent,
  intentOf,
  isUnreadable,
  keyId,
  loggedEntries,
  NOT_CREATED,
  RESOLVED,
  type Seen,
  type SeenDetails,
  timeOf,
  UNKNOWN,
  withSeen,
} from "./log.js";

export interface ListOptions {
  limit: number;
  /** Only those in this state, in capitals or not. */
  status?: string | undefined;
  accepts?: (entry: HistoryEntry) => boolean;
}

/** Requests in flight together are logged in any order: so many more lines are sorted before the cut. */
const REORDER = 256;

/** What this machine created: `history.jsonl` is the log, `open/` holds the creates whose outcome is not in it yet. */
export class History {
  readonly #folder: string;
  readonly #log: AppendLog;
  readonly #open: OpenIntents;
  #torn = 0;

  /** Touches nothing yet. `now` gives epoch milliseconds. */
  constructor(
    folder: string,
    private readonly now: () => number,
  ) {
    this.#folder = folder;
    this.#log = new AppendLog(join(folder, "history.jsonl"));
    this.#open = new OpenIntents(join(folder, "open"));
  }

  /** Where it is kept. */
  get folder(): string {
    return this.#folder;
  }

  /** The results of providers' requests. */
  get results(): KeptResults {
    return new KeptResults(join(this.#folder, "results"), this.now);
  }

  /** Lines and files that could not be read so far. */
  get skipped(): number {
    return this.#torn + this.#log.skipped;
  }

  /** Puts the intent of a create on the disk, synced. Throws LocalError: then nothing may be sent. */
  begin(attempt: Attempt): RecordedCreate {
    const intent = intentOf(attempt, this.#date());
    orLocalError(`could not record the request before sending it in ${this.#folder}`, () => {
      makeFolder(this.#folder);
      this.#open.add(intent);
    });
    return this.#pending(intent);
  }

  /** Unknown outcomes first, then the newest first by the time it was sent: providers give whole seconds. */
  list({ limit, status, accepts: isWanted = () => true }: ListOptions): HistoryEntry[] {
    const { unknown, found } = this.#readOpen();
    const wanted = status?.toUpperCase();
    const accepts = (entry: HistoryEntry) =>
      isWanted(entry) && (wanted === undefined || entry.status.toUpperCase() === wanted);
    const entries = new Map(found.map((entry) => [entry.local_id, entry]));
    for (const entry of loggedEntries(this.#log)) {
      // What was never made is nothing that this machine created; it is found by its name only.
      if (entry.status !== NOT_CREATED && accepts(entry)) entries.set(entry.local_id, entry);
      if (entries.size >= limit + REORDER) break;
    }
    const newestFirst = (list: HistoryEntry[]) =>
      list.filter(accepts).sort((a, b) => Date.parse(b.sent_at) - Date.parse(a.sent_at));
    return [...newestFirst(unknown), ...newestFirst([...entries.values()])].slice(0, limit);
  }

  /** The entry of an origin that was sent last by this machine's clock, an unknown outcome included. */
  newest(origin: string): HistoryEntry | undefined {
    const isOurs = (entry: HistoryEntry) => entry.origin === origin;
    const unknown = this.#readOpen().unknown.filter(isOurs);
    const known = this.list({ limit: REORDER, accepts: (one) => isOurs(one) && one.status !== UNKNOWN });
    return [...unknown, ...known].sort((a, b) => Date.parse(b.sent_at) - Date.parse(a.sent_at))[0];
  }

  /** The entry with this request id or local id; else those whose ids begin with it, a provider's prefix aside. */
  find(id: string): HistoryEntry[] {
    const { unknown, found } = this.#readOpen();
    const opened = [...unknown, ...found];
    const isWhole = (entry: HistoryEntry) => entry.request_id === id || entry.local_id === id;
    const begins = ({ local_id, request_id }: HistoryEntry) =>
      [local_id, request_id ?? "", ownPart(request_id ?? "")].some((one) => one.startsWith(id));
    const whole = opened.find(isWhole);
    if (whole) return [whole];
    const entries = new Map(opened.filter(begins).map((entry) => [entry.local_id, entry]));
    for (const entry of loggedEntries(this.#log, id)) {
      // By its local id, the lines of its states were not among those looked at.
      if (entry.local_id === id) return [this.#lastSeen(entry)];
      if (isWhole(entry)) return [entry];
      if (begins(entry)) entries.set(entry.local_id, entry);
    }
    return [...entries.values()];
  }

  /** Keeps a state that was seen of a request in the history. Not synced: it can be asked for again. */
  observe(entry: Seen, status: string, details: SeenDetails = {}): void {
    if (entry.status === status || entry.request_id === null) return;
    const hasEnded = isFinal(status) && !isFinal(entry.status);
    const duration = hasEnded ? { duration_ms: this.now() - timeOf(entry) } : {};
    const { request_id, origin } = entry;
    const seen = { kind: "status", request_id, origin, status, at: this.#date() } as const;
    this.#log.append({ ...seen, ...duration, ...details }, { sync: false });
  }

  /** The entry of the create with this local id, "dismissed" if that is recorded, undefined if nothing is. */
  outcomeOf(localId: string): HistoryEntry | "dismissed" | undefined {
    const entry = this.find(localId).find(({ local_id }) => local_id === localId);
    if (entry) return entry.status === NOT_CREATED ? "dismissed" : entry;
    for (const line of this.#log.lines(`"${localId}"`))
      if (line.kind === "dismissed" && line.local_id === localId) return "dismissed";
    return undefined;
  }

  /** How long the last finished runs of an origin took, in milliseconds, the newest first. */
  durations(origin: string, limit: number): number[] {
    return durations(this.#log, origin, limit);
  }

  /** The creates that this machine asked `origin` for with this key since `since` (epoch ms), unknown ones counted. */
  attempts(origin: string, apiKey: string, since: number): CountedAttempt[] {
    return attempts(this.#log, this.#read(), { origin, apiKey, since, now: this.now() });
  }

  /** What is known of creates like `wanted`: those made since `since` (epoch ms), and all whose outcome is unknown. */
  same(wanted: WantedCreate, since: number): SameCreates {
    return sameCreates(this.#log, { unknown: this.#unknown(), found: this.#readOpen().found }, wanted, since);
  }

  /** Writes down that an attempt which is dated ahead of the clock counts as of now. Throws the system's error. */
  redate(localId: string, { origin, apiKey }: Pick<Attempt, "origin" | "apiKey">): void {
    const attempt = { local_id: localId, origin, key_id: keyId(apiKey), at: this.#date() };
    this.#log.append({ kind: "redated", ...attempt }, { sync: false });
  }

  /** Settles an unknown outcome, with null as never created; undefined if there is no such unknown. Throws LocalError. */
  resolve(localId: string, requestId: string | null): HistoryEntry | undefined {
    const open = this.#unknown().find(({ intent }) => intent.local_id === localId);
    if (!open) return undefined;
    const pending = this.#pending(open.intent);
    if (requestId === null) pending.notCreated();
    else pending.created(requestId, {});
    const status = requestId === null ? NOT_CREATED : "PENDING";
    return { ...unknownEntry(open), request_id: requestId, status };
  }

  /** Takes requests off the disk, with all that is kept of them. Rejects with LocalError; then the log is as it was. */
  async forget(entries: readonly HistoryEntry[]): Promise<void> {
    const names = new Set(entries.map(({ local_id }) => local_id));
    const requests = new Set(entries.map(({ origin, request_id }) => `${origin} ${request_id}`));
    try {
      for (const name of names) this.#open.remove(name);
      for (const { origin, request_id } of entries)
        if (request_id !== null) this.results.forget(origin, request_id);
      await this.#log.rewrite((line) =>
        line.kind === "status" ? requests.has(`${line.origin} ${line.request_id}`) : names.has(line.local_id),
      );
    } catch (error) {
      throw localError(`could not forget requests in ${this.#folder}`, error);
    }
  }

  #pending(intent: Intent): RecordedCreate {
    return new RecordedCreate(intent, this.#open, this.#log, () => this.#date());
  }

  /** What is in `open/`: unknown outcomes, and requests whose outcome found room only there. */
  #readOpen(): { unknown: HistoryEntry[]; found: HistoryEntry[] } {
    const confirmed = this.#read().flatMap(({ intent, outcome }) =>
      outcome?.confirmed ? [createdRecord(intent, outcome)] : [],
    );
    return {
      unknown: this.#unknown().map(unknownEntry),
      found: confirmed.map((record) => this.#lastSeen(entryOf(record))),
    };
  }

  #unknown(): OpenIntent[] {
    // A crash between the log's line and the end of the intent leaves both: the line is what holds.
    return this.#read().filter(
      ({ intent, outcome }) => !outcome?.confirmed && !this.#log.has(intent.local_id),
    );
  }

  #lastSeen(entry: HistoryEntry): HistoryEntry {
    if (entry.request_id === null) return entry;
    for (const line of this.#log.lines(`"${entry.request_id}"`)) {
      if (line.kind === "status" && line.request_id === entry.request_id) return withSeen(entry, line);
    }
    return entry;
  }

  #read(): OpenIntent[] {
    try {
      const { open, torn } = this.#open.read();
      this.#torn = torn;
      return open;
    } catch (error) {
      if (isUnreadable(error)) return [];
      throw localError(`could not read the history in ${this.#folder}`, error);
    }
  }

  #date(): string {
    return new Date(this.now()).toISOString();
  }
}

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

/** How long the last finished runs of an origin took, in milliseconds, the newest first. */
export function durations(log: AppendLog, origin: string, limit: number): number[] {
  const found: number[] = [];
  for (const line of log.lines('"duration_ms":')) {
    if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
    // A clock that was set back in between.
    if (line.duration_ms < 0) continue;
    found.push(line.duration_ms);
    if (found.length >= limit) break;
  }
  return found;
}

/** The lines that are looked at after one that is too old: a clock that was set back for a while hides no others. */
const OLD_LINES = 1_000;

/** An attempt to create: when it counts (epoch ms), and whether its line is dated ahead of the clock. */
export interface CountedAttempt {
  localId: string;
  at: number;
  isAhead: boolean;
}

/**
 * The creates that `origin` was asked for with this key since `since` (epoch ms): those that were made, those that
 * were refused, and those with an unknown outcome. One that is dated after `now` counts as of now.
 */
export function attempts(
  log: AppendLog,
  open: readonly OpenIntent[],
  { origin, apiKey, since, now }: { origin: string; apiKey: string; since: number; now: number },
): CountedAttempt[] {
  const id = keyId(apiKey);
  const found = new Map<string, CountedAttempt>();
  const count = (entry: { origin: string; key_id: string; local_id: string }, date: string) => {
    const at = Date.parse(date);
    if (entry.origin !== origin || entry.key_id !== id || Number.isNaN(at)) return;
    // A line may have been dated again while the clock was set back: the latest date that is not ahead holds.
    const known = found.get(entry.local_id);
    if (known && !known.isAhead && (at > now || at <= known.at)) return;
    found.set(entry.local_id, { localId: entry.local_id, at: Math.min(at, now), isAhead: at > now });
  };
  const neverMade = new Set<string>();
  let old = 0;
  for (const line of log.lines()) {
    old = Date.parse(line.at) < since ? old + 1 : 0;
    if (old > OLD_LINES) break;
    // What was settled as never made did not count; the line says when it was settled.
    if (line.kind === "not-created" || (line.kind === "dismissed" && line.code === RESOLVED))
      neverMade.add(line.local_id);
    else if (line.kind !== "status" && !neverMade.has(line.local_id)) count(line, line.at);
  }
  for (const { intent, outcome } of open) count(intent, outcome?.at ?? intent.sent_at);
  return [...found.values()].filter(({ at }) => at >= since);
}

/** Room for an outcome beside its intent: to overwrite it needs no space, so an id can be kept on a full disk. */
const ROOM = 1_024;

const outcome = v.looseObject({
  request_id: id,
  /** False while the id was only found in an answer that was no success. */
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
  /** The process that sends it; undefined if that has given it up, or is not known. */
  sender?: Holder | undefined;
}

/** A file for each create without an outcome in the log: a line each for intent, outcome and sending process. */
export class OpenIntents {
  constructor(private readonly folder: string) {}

  /** Writes an intent whole and synced. Throws the system's error, or UnsyncedError; then the intent is not there. */
  add(record: Intent): void {
    makeFolder(this.folder);
    try {
      const lines = [exactJson(record), " ".repeat(ROOM), JSON.stringify(thisProcess()), ""];
      replaceFile(this.#path(record.local_id), lines.join("\n"));
    } catch (error) {
      this.remove(record.local_id);
      throw error;
    }
  }

  /** Keeps an outcome beside its intent, in the room made for it. */
  note(record: Intent, found: CreateOutcome): void {
    // The service's own words could be longer than the room: what is needed always fits.
    const whole = JSON.stringify(found);
    const { request_id, confirmed, at } = found;
    const text = whole.length < ROOM ? whole : JSON.stringify({ request_id, confirmed, at });
    overwrite(this.#path(record.local_id), roomIn(record), text.padEnd(ROOM - 1));
  }

  /** Takes the sender from an intent that stays: its outcome will not come any more. Throws the system's error. */
  giveUp(record: Intent): void {
    // Without its first character the line is not JSON, and a single byte is never written in part.
    if (readIfThere(this.#path(record.local_id), MAX_RECORD_BYTES) !== undefined)
      overwrite(this.#path(record.local_id), roomIn(record) + ROOM + 1, " ");
  }

  /** Returns whether the intent is gone. */
  remove(localId: string): boolean {
    try {
      fs.rmSync(this.#path(localId), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  /** All of them, and how many files were torn: those intents were not whole, so nothing was sent for them. */
  read(): { open: OpenIntent[]; torn: number } {
    const names = namesIn(this.folder).filter((name) => name.endsWith(".json"));
    const texts = names.map((name) => textOf(join(this.folder, basename(name))));
    // Another process removes its intent when the outcome is in the log, so a file may be gone since it was listed.
    const read = texts.filter((text) => text !== undefined).map(openIntentIn);
    return { open: read.filter((entry) => entry !== undefined), torn: read.filter((entry) => !entry).length };
  }

  #path(localId: string): string {
    return join(this.folder, `${localId}.json`);
  }
}

/** Where the second line begins, in bytes. */
function roomIn(record: Intent): number {
  return Buffer.byteLength(exactJson(record)) + 1;
}

function openIntentIn(text: string): OpenIntent | undefined {
  const [first = "", second = "", third = ""] = text.split("\n");
  const record = parse(intent, first);
  return record && { intent: record, outcome: parse(outcome, second), sender: parseHolder(third) };
}

/** Undefined if there is no such file; empty if it could not be read. */
function textOf(path: string): string | undefined {
  try {
    return readIfThere(path, MAX_RECORD_BYTES);
  } catch (error) {
    if (error instanceof UnfitFileError) return "";
    throw error;
  }
}

/** The log's record of an intent with a confirmed outcome. */
export function createdRecord(
  { kind: _, ...record }: Intent,
  { confirmed: __, ...found }: CreateOutcome,
): CreatedRecord {
  return v.parse(created, { kind: "created", ...record, ...found });
}

/** An entry with an unknown outcome; it has the id that was salvaged from a broken answer, if there was one. */
export function unknownEntry({ intent: { kind: _, ...rest }, outcome: found }: OpenIntent): HistoryEntry {
  return { ...rest, request_id: found?.request_id ?? null, status: UNKNOWN, created_at: null };
}

function parse<T extends v.GenericSchema>(schema: T, text: string): v.InferOutput<T> | undefined {
  const result = v.safeParse(schema, jsonIn(text, "output_schema"));
  return result.success ? result.output : undefined;
}

/** A create on its way through the history, from the intent on the disk to an outcome. */
export class RecordedCreate {
  /** `date` gives now in ISO 8601. */
  constructor(
    private readonly intent: Intent,
    private readonly open: OpenIntents,
    private readonly log: AppendLog,
    private readonly date: () => string,
  ) {}

  get localId(): string {
    return this.intent.local_id;
  }

  /** An id was seen in an answer that may be no success. Throws LocalError if it cannot be kept. */
  salvaged(requestId: string): void {
    const at = this.date();
    this.#note({ request_id: requestId, confirmed: false, status: UNKNOWN, created_at: null, at });
  }

  /** The request exists. Throws LocalError if that cannot be kept. */
  created(requestId: string, data: Data): void {
    const outcome: CreateOutcome = {
      request_id: requestId,
      confirmed: true,
      status: typeof data.status === "string" ? data.status : "PENDING",
      created_at: typeof data.created_at === "string" ? data.created_at : null,
      ...(typeof data.interaction_id === "string" && { interaction_id: data.interaction_id }),
      at: this.date(),
    };
    // Without room for another line there is still the room beside the intent, and then that stays.
    if (this.#logged(createdRecord(this.intent, outcome), true)) this.open.remove(this.localId);
    else this.#note(outcome);
  }

  /** Its user says that nothing was created. The intent stays in the log. Throws LocalError if that cannot be kept. */
  notCreated(): void {
    const record = { ...this.intent, kind: "not-created", at: this.date() } as const;
    orLocalError(`it could not be recorded that ${this.localId} was not created`, () =>
      this.log.append(record, { sync: true }),
    );
    this.open.remove(this.localId);
  }

  /** Nothing was created. With `code`, the service said so and may have counted it. */
  dismissed(code?: string): void {
    if (code !== undefined) this.#logDismissed(code);
    // An intent that cannot be removed would read as an unknown outcome, unless the log says otherwise.
    if (!this.open.remove(this.localId) && code === undefined) this.#logDismissed(RESOLVED);
  }

  /** This process waits for the outcome no longer. The intent stays, as an unknown outcome. */
  givenUp(): void {
    try {
      this.open.giveUp(this.intent);
    } catch {
      // It reads as under way until this process ends.
    }
  }

  #logDismissed(code: string): void {
    const { local_id, origin, key_id } = this.intent;
    // If that fails, only the count of the hour suffers, on the side of one create too many.
    this.#logged({ kind: "dismissed", local_id, origin, key_id, at: this.date(), code }, false);
  }

  #logged(line: HistoryLine, sync: boolean): boolean {
    try {
      this.log.append(line, { sync });
      return true;
    } catch {
      return false;
    }
  }

  #note(outcome: CreateOutcome): void {
    orLocalError(`the request id ${outcome.request_id} could not be recorded`, () =>
      this.open.note(this.intent, outcome),
    );
  }
}
