import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { epochOf } from "../../clock.js";
import { exactJson, isObject, jsonIn, roundedNumbers } from "../../json/exact-json.js";
import { type Holder, lock, parseHolder, thisProcess, waitWhileHeld } from "../../lock.js";
import {
  type CreateBody,
  type Data,
  isFinal,
  isRequestId,
  type JsonSchema,
  ownPart,
} from "../../protocol/conversation.js";
import { nextSlot, WINDOW_MS } from "../../protocol/limits.js";
import {
  appendLine,
  discard,
  linesBackward,
  localError,
  MAX_RECORD_BYTES,
  makeFolder,
  namesIn,
  orLocalError,
  overwrite,
  readIfThere,
  replaceFile,
  sha256,
  systemCode,
  UnfitFileError,
} from "../files.js";
import { KeptResults } from "./kept-results.js";

/** What the history holds of one request, or of a create that was sent and has no readable answer (`UNKNOWN`). */
export interface HistoryEntry {
  local_id: string;
  /** Null for an unknown outcome; an id that was salvaged from a broken answer may still be there. */
  request_id: string | null;
  status: string;
  /** The service's own, verbatim; null if it gave no time. */
  created_at: string | null;
  /** When this machine sent it, ISO 8601 in UTC. */
  sent_at: string;
  origin: string;
  profile: string | null;
  /** The start of the key's digest: it tells keys apart, and the key cannot be computed from it. */
  key_id: string;
  prompt: string;
  structured_output: boolean;
  output_schema: JsonSchema | null;
  /** Of a provider's request only: the model that was asked for, its options, and what it follows up on. */
  model?: string | undefined;
  options?: Record<string, unknown> | undefined;
  after?: string | undefined;
  /** What a follow-up at Parallel has to name. */
  interaction_id?: string | undefined;
  /** Whether it ended FAILED with a part of a result. */
  cut_short?: boolean | undefined;
  /** What it cost, where the provider says it. */
  cost_dollars?: number | undefined;
  /** What the service said when it was stopped. */
  message?: string | undefined;
}

/** What has to be known of a request to keep a state that was seen of it. */
export type Seen = Pick<HistoryEntry, "request_id" | "status" | "origin" | "created_at" | "sent_at"> &
  Partial<Pick<HistoryEntry, "profile">>;

export const UNKNOWN = "UNKNOWN";

/** The state of a create that its user settled as never made. */
export const NOT_CREATED = "NOT_CREATED";

/** The code of a create that was never made and that the service did not count. */
export const RESOLVED = "RESOLVED";

const text = v.string();
/** An id is data, in a file of somebody else's as well: what is not well-formed names nothing. */
export const id = v.pipe(
  text,
  v.check((value: string) => isRequestId(value)),
);
const maybe = v.nullable(v.string());
/** The object itself, not a checked copy, which would forget its text: a repeated create sends the same numbers. */
const schema = v.custom<JsonSchema>(isObject);

export const intent = v.looseObject({
  kind: v.literal("intent"),
  local_id: id,
  sent_at: text,
  origin: text,
  profile: v.fallback(maybe, null),
  key_id: v.fallback(text, ""),
  prompt: text,
  structured_output: v.fallback(v.boolean(), false),
  output_schema: v.fallback(v.nullable(schema), null),
  model: v.fallback(v.optional(text), undefined),
  options: v.fallback(v.optional(schema), undefined),
  after: v.fallback(v.optional(text), undefined),
});
export type Intent = v.InferOutput<typeof intent>;

/** A create that is about to be sent. */
export interface Attempt {
  origin: string;
  profile: string | null;
  apiKey: string;
  body: CreateBody;
}

/** The record of an attempt; `sentAt` is ISO 8601. */
export function intentOf({ origin, profile, apiKey, body }: Attempt, sentAt: string): Intent {
  const { prompt, structured_output = false, output_schema = null } = body;
  return {
    ...{ kind: "intent", local_id: newLocalId(), sent_at: sentAt, origin, profile, key_id: keyId(apiKey) },
    ...{ prompt, structured_output, output_schema, ...forProvider(body) },
  };
}

/** What only a provider takes of a create; without it, it is written and named as it ever was. */
export function forProvider({ model, options, after }: Pick<HistoryEntry, "model" | "options" | "after">) {
  return {
    ...(model !== undefined && { model }),
    ...(options !== undefined && { options }),
    ...(after !== undefined && { after }),
  };
}

/** A request that exists: the intent, and what the service said. `at` is when it said so. */
export const created = v.looseObject({
  ...intent.entries,
  kind: v.literal("created"),
  request_id: id,
  status: v.fallback(text, "PENDING"),
  created_at: v.fallback(maybe, null),
  interaction_id: v.fallback(v.optional(text), undefined),
  at: text,
});
export type CreatedRecord = v.InferOutput<typeof created>;

/** A state that was seen; `duration_ms` on a final one whose beginning is known. */
export const seen = v.looseObject({
  kind: v.literal("status"),
  request_id: id,
  origin: text,
  status: text,
  at: text,
  duration_ms: v.optional(v.number()),
  cut_short: v.optional(v.boolean()),
  cost_dollars: v.optional(v.number()),
  message: v.fallback(v.optional(text), undefined),
});
export type SeenRecord = v.InferOutput<typeof seen>;
/** What is kept of a state beside its name. */
export type SeenDetails = Pick<SeenRecord, "cut_short" | "cost_dollars" | "message">;

/** A create whose own line is dated ahead of the clock counts at `at` instead: when that was noticed. */
export const redated = v.looseObject({
  kind: v.literal("redated"),
  local_id: id,
  origin: text,
  key_id: v.fallback(text, ""),
  at: text,
});

/** A create that the service counted and refused. */
export const dismissed = v.looseObject({ ...redated.entries, kind: v.literal("dismissed"), code: text });

/** A create that its user settled as never made: the whole intent, so that it can be shown and sent again. */
export const notCreated = v.looseObject({ ...intent.entries, kind: v.literal("not-created"), at: text });
export type NotCreatedRecord = v.InferOutput<typeof notCreated>;

const line = v.variant("kind", [created, seen, dismissed, redated, notCreated]);
export type HistoryLine = v.InferOutput<typeof line>;

const KINDS: ReadonlySet<string> = new Set(["created", "status", "dismissed", "redated", "not-created"]);

/** One line of the history; undefined for a torn one, "other" for a kind that a later version may know. */
export function readLine(bytes: Buffer | string): HistoryLine | "other" | undefined {
  const value = jsonIn(bytes.toString("utf8"), "output_schema");
  const result = v.safeParse(line, value);
  if (result.success) return result.output;
  const kind: unknown = Object(value).kind;
  return typeof kind === "string" && !KINDS.has(kind) ? "other" : undefined;
}

/** The entry of a request that exists, in the state last seen. */
export function entryOf({ kind: _, at: __, ...record }: CreatedRecord, last?: SeenRecord): HistoryEntry {
  return last ? withSeen(record, last) : record;
}

/** An entry in a state that was seen later. */
export function withSeen(
  entry: HistoryEntry,
  { status, cut_short, cost_dollars, message }: SeenRecord,
): HistoryEntry {
  return {
    ...entry,
    status,
    ...(cut_short && { cut_short }),
    ...(cost_dollars !== undefined && { cost_dollars }),
    ...(message !== undefined && { message }),
  };
}

/** The entry of a create that was never made. */
export function notCreatedEntry({ kind: _, at: __, ...record }: NotCreatedRecord): HistoryEntry {
  return { ...record, request_id: null, status: NOT_CREATED, created_at: null };
}

/** When a request began, epoch ms: by the service's word, but not before it was sent; its clock may be another one. */
export function timeOf(entry: Pick<HistoryEntry, "created_at" | "sent_at">): number {
  return Math.max(epochOf(entry.created_at) ?? 0, Date.parse(entry.sent_at));
}

/** The name of a create in the history: it has one before the service gives it any. */
function newLocalId(): string {
  return `local-${process.getBuiltinModule("node:crypto").randomBytes(6).toString("hex")}`;
}

/** Tells keys apart in the history without keeping one: the start of a digest. */
export function keyId(apiKey: string): string {
  return sha256(apiKey).slice(0, 12);
}

/** What a create asks for. */
type Asked = Pick<HistoryEntry, "prompt" | "model" | "options" | "after"> & {
  structured_output?: boolean;
  output_schema?: JsonSchema | null;
};

/** What makes two creates the same, in a list; `roundedNumbers` are those that JavaScript cannot tell apart. */
function askedIn(create: Asked): unknown[] {
  const { prompt, structured_output = false, output_schema = null } = create;
  const extra = forProvider(create);
  const rest = [...roundedNumbers(output_schema), ...(Object.keys(extra).length > 0 ? [extra] : [])];
  return [prompt, structured_output, output_schema, ...rest];
}

/** The same for two creates with the same origin, key, prompt and schema, whatever the order of a schema's members. */
export function createName(create: Asked & Pick<HistoryEntry, "origin" | "key_id">): string {
  return JSON.stringify([create.origin, create.key_id, ...askedIn(create)], (_name, value) =>
    isObject(value) ? Object.fromEntries(sortedEntries(value)) : value,
  );
}

/** A digest of the same for one origin and key, 24 hexadecimal digits, as the journals of batches hold it. */
export function digestOf(create: Asked): string {
  return sha256(JSON.stringify(asPairs(askedIn(create)))).slice(0, 24);
}

function asPairs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asPairs);
  return isObject(value) ? sortedEntries(value).map(([name, part]) => [name, asPairs(part)]) : value;
}

function sortedEntries(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

const LINE_BREAK = Buffer.from("\n");
/** To rewrite 100,000 lines takes about a second, to count an hour milliseconds; a holder of this many ms is stuck. */
const LOCK_WAIT_MS = 10_000;

const SETTLED: ReadonlySet<HistoryLine["kind"]> = new Set(["created", "dismissed", "not-created"]);

/** The append-only file of the history: a line for each request, and for each state seen later. */
export class AppendLog {
  #skipped = 0;

  /** Touches nothing yet. */
  constructor(private readonly path: string) {}

  /** Lines that could not be read so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Throws the system's error. `sync`: on the disk when this returns. Written again if a rewrite replaced the file. */
  append(line: HistoryLine, { sync }: { sync: boolean }): void {
    makeFolder(dirname(this.path));
    const text = exactJson(line);
    const settled = () => waitWhileHeld(this.#lock);
    while (!appendLine(this.path, text, { sync, settled })) if (this.#holds(text)) return;
  }

  /** Drops lines; none that another process appends is lost. Rejects with HeldError or the system's error. */
  async rewrite(isDropped: (line: HistoryLine) => boolean): Promise<void> {
    makeFolder(dirname(this.path));
    const release = await lock(this.#lock, LOCK_WAIT_MS);
    try {
      const kept: Buffer[] = [];
      for (const bytes of linesBackward(this.path)) {
        const line = readLine(bytes);
        // The last line may be one that is being appended: it is written once more.
        if (line === undefined && kept.length === 0) continue;
        if (line === undefined || line === "other" || !isDropped(line)) kept.push(LINE_BREAK, bytes);
      }
      for (const name of namesIn(dirname(this.path)))
        if (name.startsWith(`${basename(this.path)}.`) && name.endsWith(".draft"))
          discard(join(dirname(this.path), name));
      replaceFile(this.path, Buffer.concat(kept.reverse()));
    } finally {
      release();
    }
  }

  get #lock(): string {
    return `${this.path}.lock`;
  }

  #holds(text: string): boolean {
    for (const _ of linesBackward(this.path, text)) return true;
    return false;
  }

  /** The newest line first; with `needle`, only lines that contain it. Torn lines and those of unknown kinds are passed over. */
  *lines(needle?: string): Generator<HistoryLine> {
    try {
      for (const bytes of linesBackward(this.path, needle)) {
        const line = readLine(bytes);
        if (line === undefined) this.#skipped++;
        else if (line !== "other") yield line;
      }
    } catch (error) {
      if (!isUnreadable(error)) throw localError(`could not read ${this.path}`, error);
    }
  }

  /** Whether a create is in the log: made, or settled as not made. */
  has(localId: string): boolean {
    for (const line of this.lines(`"${localId}"`))
      if (SETTLED.has(line.kind) && "local_id" in line && line.local_id === localId) return true;
    return false;
  }
}

/** Whether the history may not be read: a reader then finds it empty. */
export function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR"].includes(systemCode(error) ?? "");
}

/** Requests in the log, newest first, in the state last seen, and creates that were never made. */
export function* loggedEntries(log: AppendLog, needle?: string): Generator<HistoryEntry> {
  const states = new Map<string, SeenRecord>();
  for (const line of log.lines(needle)) {
    if (line.kind === "status" && !states.has(line.request_id)) states.set(line.request_id, line);
    if (line.kind === "created") yield entryOf(line, states.get(line.request_id));
    if (line.kind === "not-created") yield notCreatedEntry(line);
  }
}

export interface HistoryQuery {
  limit: number;
  /** Only those in this state, in capitals or not. */
  status?: string | undefined;
  accepts?: (entry: HistoryEntry) => boolean;
}

/** Requests in flight together are logged in any order: so many more lines are sorted before the cut. */
const REORDER = 256;

/** What this machine created: `history.jsonl` is the log, `open/` holds the creates whose outcome is not in it yet. */
export class History {
  readonly #log: AppendLog;
  readonly #open: OpenIntents;
  #torn = 0;

  /** Touches nothing yet. `folder` is where it is kept; `now` gives epoch milliseconds. */
  constructor(
    readonly folder: string,
    private readonly now: () => number,
  ) {
    this.#log = new AppendLog(join(folder, "history.jsonl"));
    this.#open = new OpenIntents(join(folder, "open"));
  }

  /** The results of providers' requests. */
  get results(): KeptResults {
    return new KeptResults(join(this.folder, "results"), this.now);
  }

  /** Lines and files that could not be read so far. */
  get skipped(): number {
    return this.#torn + this.#log.skipped;
  }

  /** Puts the intent of a create on the disk, synced. Throws LocalError: then nothing may be sent. */
  begin(attempt: Attempt): RecordedCreate {
    const intent = intentOf(attempt, this.#date());
    orLocalError(`could not record the request before sending it in ${this.folder}`, () => {
      makeFolder(this.folder);
      this.#open.add(intent);
    });
    return this.#pending(intent);
  }

  /** Unknown outcomes first, then the newest first by the time it was sent: providers give whole seconds. */
  list({ limit, status, accepts: isWanted = () => true }: HistoryQuery): HistoryEntry[] {
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
    const found: number[] = [];
    for (const line of this.#log.lines('"duration_ms":')) {
      if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
      // A clock that was set back in between.
      if (line.duration_ms < 0) continue;
      found.push(line.duration_ms);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** The creates that this machine asked `origin` for with this key since `since` (epoch ms), unknown ones counted. */
  attempts(origin: string, apiKey: string, since: number): CountedAttempt[] {
    return attempts(this.#log, this.#read(), { origin, apiKey, since, now: this.now() });
  }

  /** Where a key stands in the hour at an origin. `limit` is creates an hour. */
  hour(key: Pick<Attempt, "origin" | "apiKey">, limit: number): HourlyUsage {
    return hourOf(this.#hourly(key), limit, this.now());
  }

  /**
   * Begins a create if fewer than `limit` count. To count and to write the intent is one step among all processes
   * of this machine, so that no two of them take the same slot. Throws LocalError, or `signal.reason` if that is
   * aborted while another process counts.
   */
  async reserve(
    attempt: Attempt,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ pending: RecordedCreate } | { fullUntil: number }> {
    let release = () => {};
    try {
      makeFolder(this.folder);
      release = await lock(join(this.folder, "hour.lock"), LOCK_WAIT_MS, signal);
      const found = this.#hourly(attempt);
      // Counted as of now each time, they would fill the hour until the clock is where it was.
      for (const { localId, isAhead } of found) if (isAhead) this.#redate(localId, attempt);
      const { nextAt } = hourOf(found, limit, this.now());
      return nextAt > this.now() ? { fullUntil: nextAt } : { pending: this.begin(attempt) };
    } catch (error) {
      signal?.throwIfAborted();
      throw localError("the creates of this hour could not be counted", error);
    } finally {
      release();
    }
  }

  /** What is known of creates like `wanted`: those made since `since` (epoch ms), and all whose outcome is unknown. */
  same(wanted: WantedCreate, since: number): SameCreates {
    return sameCreates(this.#log, { unknown: this.#unknown(), found: this.#readOpen().found }, wanted, since);
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
      throw localError(`could not forget requests in ${this.folder}`, error);
    }
  }

  #hourly({ origin, apiKey }: Pick<Attempt, "origin" | "apiKey">): CountedAttempt[] {
    return this.attempts(origin, apiKey, this.now() - WINDOW_MS - MARGIN_MS + 1);
  }

  /** Writes down that an attempt which is dated ahead of the clock counts as of now. */
  #redate(localId: string, { origin, apiKey }: Attempt): void {
    const attempt = { local_id: localId, origin, key_id: keyId(apiKey), at: this.#date() };
    this.#log.append({ kind: "redated", ...attempt }, { sync: false });
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
      throw localError(`could not read the history in ${this.folder}`, error);
    }
  }

  #date(): string {
    return new Date(this.now()).toISOString();
  }
}

/** An attempt counts so much longer (ms): the service may count whole seconds (§8), by another clock. */
const MARGIN_MS = 1_000;

/** Where one key stands in the hour at one origin. */
export interface HourlyUsage {
  /** When (epoch ms) each create that still counts was made, the earliest first. */
  attempts: number[];
  /** When (epoch ms) the next create may be sent; the time asked about, if that is at once. */
  nextAt: number;
}

function hourOf(found: readonly CountedAttempt[], limit: number, now: number): HourlyUsage {
  const attempts = found.map(({ at }) => at).sort((a, b) => a - b);
  return { attempts, nextAt: nextSlot(attempts, limit, now - MARGIN_MS) + MARGIN_MS };
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
