import * as fs from "node:fs";
import { join } from "node:path";
import { listFolder, makePrivateFolder, readIfExists, replaceFile } from "../../../core/files/file-access.js";
import { acquireLock } from "../../../core/files/file-lock.js";
import {
  catchLocalError,
  createLocalError,
  LocalError,
  wrapFileErrors,
} from "../../../core/files/local-error.js";
import { tryParseExact } from "../../../core/json/exact-json.js";
import { type ContextFile, isFinal, stripIdPrefix } from "../../../core/protocol/conversation.js";
import { DAY_MS, WINDOW_MS } from "../../../core/protocol/rate-limits.js";
import {
  AppendLog,
  buildRequestKey,
  isUnreadableHistory,
  LOCK_WAIT_MS,
  readHistoryEntries,
} from "./append-log.js";
import { CreateRecorder } from "./create-recorder.js";
import { type CreateIdentity, type EqualCreates, findEqualCreates } from "./equal-creates.js";
import {
  addNewerState,
  buildHistoryEntry,
  buildIntent,
  type CreateAttempt,
  type ForgottenRecord,
  findStartTime,
  getServiceAddress,
  type HistoryEntry,
  hashApiKey,
  type Intent,
  mergeStateRecords,
  NOT_CREATED,
  type StateDetails,
  type StateRecord,
  type StateSubject,
  sumCosts,
  sumTokens,
  UNKNOWN,
} from "./history-records.js";
import { KeptResults } from "./kept-results.js";
import { buildCreatedRecord, buildUnknownEntry, type OpenIntent, OpenIntents } from "./open-intents.js";
import {
  type CountedAttempt,
  type CountedKey,
  computeWindowUsage,
  listCountedAttempts,
  MARGIN_MS,
  type WindowUsage,
} from "./window-usage.js";

/** How many create calls are allowed for one key at one origin; undefined for no limit. */
export interface CreateLimits {
  perHour?: number | undefined;
  /** Create calls in 24 hours. */
  perDay?: number | undefined;
}

export interface HistoryQuery {
  limit: number;
  /** The state that listed requests must have, in upper or lower case. */
  status?: string | undefined;
  accepts?: (entry: HistoryEntry) => boolean;
}

/** The fields that identify a request with a kept result or check. */
type StoredRequestId = Parameters<typeof buildRequestKey>[0];

/** How many extra entries are read before sorting, because requests that were sent together are logged in any order. */
const REORDER = 256;

/** Maximum size of a kept check, in bytes (contract §11). */
const MAX_CHECK_BYTES = 4 << 20;

/** The create calls of this machine. `history.jsonl` is the log; `open/` holds the create calls whose outcome is not in the log yet. */
export class History {
  readonly #log: AppendLog;
  readonly #open: OpenIntents;
  #torn = 0;

  /** Creates the history without opening a file. `folder` holds it; `now` returns epoch milliseconds. */
  constructor(
    readonly folder: string,
    private readonly now: () => number,
  ) {
    this.#log = new AppendLog(join(folder, "history.jsonl"));
    this.#open = new OpenIntents(join(folder, "open"));
  }

  /** The kept results of requests at providers. */
  get results(): KeptResults {
    return new KeptResults(join(this.folder, "results"), this.now);
  }

  /** The kept outcomes of checks. */
  get checks(): KeptResults {
    return new KeptResults(join(this.folder, "checks"), this.now, MAX_CHECK_BYTES);
  }

  /** Returns the context files of a request with their texts; undefined without context. Throws LocalError if a text is not kept any more. */
  findContext({ context }: HistoryEntry): ContextFile[] | undefined {
    return context?.map((file) => {
      const path = this.#locateText(file.sha256);
      const text = wrapFileErrors("a context could not be read", () => readIfExists(path));
      if (text !== undefined) return { ...file, text };
      throw new LocalError(`the text of ${file.name} is not kept here any more: give it with --context`);
    });
  }

  /** Returns the path of a context's text. `name`: the text's digest. */
  #locateText(name: string): string {
    return join(this.folder, "contexts", name);
  }

  /** Keeps a text in `results` or `checks`, unless the request was forgotten meanwhile. Throws LocalError. */
  keep(store: KeptResults, request: StoredRequestId, text: string, replaces = false): void {
    const [service, requestId] = [getServiceAddress(request), request.request_id];
    store.keep(service, requestId, text, replaces);
    // `forget` removes the record before the kept texts, so a text written after that must be removed here.
    if (!this.#isRecorded(request)) store.forget(service, requestId);
  }

  #isRecorded(request: StoredRequestId): boolean {
    for (const line of this.#log.readLines(`"${request.request_id}"`))
      if (line.kind === "created" && buildRequestKey(line) === buildRequestKey(request)) return true;
    return this.#readOpen().found.some(
      ({ request_id, ...entry }) =>
        request_id !== null && buildRequestKey({ ...entry, request_id }) === buildRequestKey(request),
    );
  }

  /** Removes the kept result and check of a request at a service. Throws LocalError. */
  #forgetKept(service: string, requestId: string): void {
    for (const each of [this.results, this.checks]) each.forget(service, requestId);
  }

  /** The number of lines and files that could not be read so far. */
  get skipped(): number {
    return this.#torn + this.#log.skipped;
  }

  /** Writes the intent of a create call to disk, synced. If it throws LocalError, nothing may be sent. A create call with context must use `reserve`. */
  begin(attempt: CreateAttempt): CreateRecorder {
    const intent = buildIntent(attempt, this.#formatDate());
    wrapFileErrors(`could not record the request before sending it in ${this.folder}`, () => {
      makePrivateFolder(this.folder);
      if (attempt.body.context) makePrivateFolder(this.#locateText("."));
      for (const { sha256, text = "" } of attempt.body.context ?? [])
        if (!fs.existsSync(this.#locateText(sha256))) replaceFile(this.#locateText(sha256), text);
      this.#open.add(intent);
    });
    return this.#recordPending(intent);
  }

  /** Lists unknown outcomes first, then the other entries. Both are sorted by time of sending, newest first: providers' times are whole seconds. */
  list({ limit, status, accepts: isWanted = () => true }: HistoryQuery): HistoryEntry[] {
    const { unknown, found: openEntries } = this.#readOpen();
    const wanted = status?.toUpperCase();
    const isAccepted = (entry: HistoryEntry) =>
      isWanted(entry) && (wanted === undefined || entry.status.toUpperCase() === wanted);
    const entries = new Map(openEntries.map((entry) => [entry.local_id, entry]));
    for (const entry of readHistoryEntries(this.#log)) {
      // A create call that the user settled as not created is not listed. Its local id finds it.
      if (entry.status !== NOT_CREATED && isAccepted(entry)) entries.set(entry.local_id, entry);
      if (entries.size >= limit + REORDER) break;
    }
    const listed = [unknown, [...entries.values()]].map((some) =>
      some.filter(isAccepted).sort(compareBySentTime),
    );
    return listed.flat().slice(0, limit);
  }

  /** Finds the entry, including unknown outcomes, that was sent last among those that `isOwnCode` accepts. */
  findNewest(isOurs: (entry: HistoryEntry) => boolean): HistoryEntry | undefined {
    const unknown = this.#readOpen().unknown.filter(isOurs);
    const knownEntries = this.list({
      limit: REORDER,
      accepts: (entry) => isOurs(entry) && entry.status !== UNKNOWN,
    });
    return [...unknown, ...knownEntries].sort(compareBySentTime)[0];
  }

  /**
   * Finds the entry with this request id or local id: the newest that `isPreferred` accepts, or else the newest. If no
   * entry has the id, finds all whose ids begin with it, if it has at least four characters after a provider's prefix.
   */
  find(id: string, isPreferred: (entry: HistoryEntry) => boolean = () => true): HistoryEntry[] {
    const { unknown, found: openEntries } = this.#readOpen();
    const opened = [...unknown, ...openEntries];
    const isWhole = (entry: HistoryEntry) => entry.request_id === id || entry.local_id === id;
    const hasBeginning = ({ local_id, request_id }: HistoryEntry) =>
      [local_id, request_id ?? ""].some((candidate) => isIdPrefix(id, candidate));
    let whole = opened.find(isWhole);
    if (whole && isPreferred(whole)) return [whole];
    const entries = new Map(opened.filter(hasBeginning).map((entry) => [entry.local_id, entry]));
    for (const entry of readHistoryEntries(this.#log, id)) {
      // The search for a local id does not find the lines of later states, which have only the request id.
      if (entry.local_id === id) return [this.#mergeLastSeen(entry)];
      if (isWhole(entry)) {
        if (isPreferred(entry)) return [entry];
        whole ??= entry;
      }
      if (hasBeginning(entry)) entries.set(entry.local_id, entry);
    }
    if (whole) return [whole];
    return [...entries.values()].map((entry) => this.#mergeLastSeen(entry));
  }

  /** Returns the length of the shortest unique beginning of an id in this history: at least eight characters after a provider's prefix. */
  measureNameLength(id: string): number {
    let length = id.length - stripIdPrefix(id).replace("local-", "").length + SHOWN;
    const others = this.find(id.slice(0, length)).flatMap(({ request_id, local_id }) =>
      request_id === id || local_id === id ? [] : [request_id ?? "", local_id],
    );
    while (length < id.length && others.some((other) => isIdPrefix(id.slice(0, length), other))) length++;
    return Math.min(length, id.length);
  }

  /** Records a new state of a request. The line is not synced, because the state can be requested again. */
  observe(entry: StateSubject, status: string, details: StateDetails = {}): void {
    const isNews = entry.status !== status || (details.message ?? entry.message) !== entry.message;
    if (entry.request_id === null || !isNews) return;
    const hasEnded = isFinal(status) && !isFinal(entry.status);
    const duration = hasEnded ? { duration_ms: this.now() - findStartTime(entry) } : {};
    const { request_id, origin, base_path } = entry;
    const seen = { kind: "status", request_id, origin, base_path, status, at: this.#formatDate() } as const;
    this.#log.append({ ...seen, ...duration, ...details }, { sync: false });
  }

  /** Finds the entry of the create call with this local id; "dismissed" if nothing was created, undefined if the history has no record. */
  findOutcome(localId: string): HistoryEntry | "dismissed" | undefined {
    const entry = this.find(localId).find(({ local_id }) => local_id === localId);
    if (entry) return entry.status === NOT_CREATED ? "dismissed" : entry;
    for (const line of this.#log.readLines(`"${localId}"`))
      if (line.kind === "dismissed" && line.local_id === localId) return "dismissed";
    return undefined;
  }

  /** Lists how long the newest finished runs of an origin took, in ms, newest first; empty if the history cannot be read. */
  listDurations(origin: string, limit: number): number[] {
    const listed: number[] = [];
    catchLocalError(() => {
      for (const line of this.#log.readLines('"duration_ms":')) {
        if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
        // A negative duration means that the clock was set back during the run.
        if (line.duration_ms < 0) continue;
        listed.push(line.duration_ms);
        if (listed.length >= limit) break;
      }
    });
    return listed;
  }

  /**
   * Sums what the requests of one key at an origin cost since `since` (epoch ms), without unknown outcomes. `dollars` and
   * `tokens` (input and output) are null if no service reported any; `unsaid`: how many ended requests have neither.
   */
  sumAccountCosts({ origin, key_id }: Pick<CountedKey, "origin" | "key_id">, since: number) {
    const isIn = (entry: { origin: string; key_id: string }, date: string) =>
      entry.origin === origin && entry.key_id === key_id && Date.parse(date) >= since;
    const isAccepted = (entry: HistoryEntry) => entry.status !== UNKNOWN && isIn(entry, entry.sent_at);
    const made = this.list({ limit: Number.POSITIVE_INFINITY, accepts: isAccepted });
    const ended: Partial<HistoryEntry>[] = made.filter(({ status }) => isFinal(status));
    const running = made.length - ended.length;
    for (const line of this.#log.readLines('"forgotten"'))
      if (line.kind === "forgotten" && isIn(line, line.at)) ended.push(line);
    const sum = (name: "cost_dollars" | "tokens") =>
      sumCosts(ended.flatMap((entry) => entry[name] ?? [])) ?? null;
    const unsaid = ended.filter((entry) => (entry.cost_dollars ?? entry.tokens) === undefined);
    return {
      ...{ requests: ended.length + running, running, unsaid: unsaid.length },
      ...{ dollars: sum("cost_dollars"), tokens: sum("tokens") },
    };
  }

  /** Counts the create calls of a key in the last hour, including refused ones and unknown outcomes. `limit`: create calls allowed per hour. */
  countHour({ origin, apiKey }: Pick<CreateAttempt, "origin" | "apiKey">, limit: number): WindowUsage {
    return computeWindowUsage(this.#listCounted({ origin, key_id: hashApiKey(apiKey) }), limit, this.now());
  }

  /** Counts the create calls of the last hour for a key of which only the id is known. */
  countHourly(key: Pick<CountedKey, "origin" | "key_id">): number {
    return this.#listCounted(key).length;
  }

  /** Counts the create calls of a key in the last 24 hours, without refused ones. `limit`: create calls allowed in 24 hours. */
  countDay({ origin, apiKey }: Pick<CreateAttempt, "origin" | "apiKey">, limit: number): WindowUsage {
    const attempts = this.#listCounted({ origin, key_id: hashApiKey(apiKey) }, DAY_MS, true);
    return computeWindowUsage(attempts, limit, this.now(), DAY_MS);
  }

  /**
   * Begins a create call if fewer than `perHour` count in the last hour and fewer than `perDay` in the last 24; else
   * returns the time (epoch ms) at which one may be sent. Counting and writing the intent are one step for all
   * processes of this machine, so that no two take the same slot. Throws LocalError, or `signal.reason` after an abort.
   */
  async reserve(
    attempt: CreateAttempt,
    { perHour = Number.POSITIVE_INFINITY, perDay = Number.POSITIVE_INFINITY }: CreateLimits,
    signal?: AbortSignal,
  ): Promise<{ pending: CreateRecorder } | { fullUntil: number; isDay: boolean }> {
    let release = () => {};
    try {
      makePrivateFolder(this.folder);
      release = await acquireLock(join(this.folder, "hour.lock"), LOCK_WAIT_MS, signal);
      const attempts = this.#listCounted({ origin: attempt.origin, key_id: hashApiKey(attempt.apiKey) });
      // Record that attempts dated in the future count as of now, so that they do not fill the hour until those dates.
      for (const { localId, isAhead } of attempts) if (isAhead) this.#redate(localId, attempt);
      const day = perDay === Number.POSITIVE_INFINITY ? 0 : this.countDay(attempt, perDay).nextAt;
      // Read the time after the day was counted; otherwise a day with free slots would seem full.
      const now = this.now();
      if (day > now) return { fullUntil: day, isDay: true };
      const { nextAt } = computeWindowUsage(attempts, perHour, now);
      return nextAt > now ? { fullUntil: nextAt, isDay: false } : { pending: this.begin(attempt) };
    } catch (error) {
      signal?.throwIfAborted();
      throw createLocalError("the creates of this hour could not be counted", error);
    } finally {
      release();
    }
  }

  /** Finds the create calls that are the same as `wanted`: those made since `since` (epoch ms), and all with an unknown outcome. */
  findSame(wanted: CreateIdentity, since: number): EqualCreates {
    return findEqualCreates(
      this.#log,
      { unknown: this.#listUnknown(), found: this.#readOpen().found },
      wanted,
      since,
    );
  }

  /** Settles the unknown outcome `localId`: `requestId` was created, or nothing if it is null. Undefined if there is no such outcome. Throws LocalError. */
  resolve(localId: string, requestId: string | null): HistoryEntry | undefined {
    const open = this.#listUnknown().find(({ intent }) => intent.local_id === localId);
    if (!open) return undefined;
    const pending = this.#recordPending(open.intent);
    if (requestId === null) pending.recordNotCreated();
    else pending.recordCreated(requestId, {});
    const status = requestId === null ? NOT_CREATED : "PENDING";
    return { ...buildUnknownEntry(open), request_id: requestId, status };
  }

  /**
   * Removes prompt, context, id and result of requests from disk; time, account and cost stay. Also removes the context
   * texts that no record names any more. Rejects with LocalError.
   */
  async forget(entries: readonly HistoryEntry[]): Promise<void> {
    const names = new Set(entries.map(({ local_id }) => local_id));
    const requests = new Map<string, ForgottenRecord>();
    for (const { request_id, ...entry } of entries)
      if (request_id !== null)
        requests.set(buildRequestKey({ ...entry, request_id }), this.#recordNameless(entry, request_id));
    const unlogged = new Map(requests);
    let release = () => {};
    try {
      release = await acquireLock(join(this.folder, "hour.lock"), LOCK_WAIT_MS);
      // Remove the texts first: after a crash the records are still there, and can be forgotten again.
      this.#dropContexts(names);
      if (names.size === 0) return;
      for (const name of names) this.#open.remove(name);
      const forgetKept = () => {
        for (const { request_id, ...entry } of entries)
          if (request_id !== null) this.#forgetKept(getServiceAddress(entry), request_id);
      };
      forgetKept();
      await this.#log.rewrite((line) => {
        if (line.kind === "status") return requests.has(buildRequestKey(line)) ? undefined : line;
        if (line.kind === "forgotten" || !names.has(line.local_id)) return line;
        if (line.kind !== "created") return undefined;
        unlogged.delete(buildRequestKey(line));
        return requests.get(buildRequestKey(line));
      });
      for (const record of unlogged.values()) this.#log.append(record, { sync: true });
      // Another command may have kept a text before the record was removed, so remove it again.
      forgetKept();
    } catch (error) {
      throw createLocalError(`could not forget requests in ${this.folder}`, error);
    } finally {
      release();
    }
  }

  /** Removes the context texts that only records of `leaving` (local ids) name. The caller holds the lock, so no create call adds a name meanwhile. */
  #dropContexts(leaving: ReadonlySet<string>): void {
    const unnamed = new Set(listFolder(this.#locateText(".")));
    if (unnamed.size === 0) return;
    const keep = ({ local_id, context = [] }: Pick<HistoryEntry, "local_id" | "context">) => {
      if (!leaving.has(local_id)) for (const { sha256 } of context) unnamed.delete(sha256);
    };
    // A create call moves from `open/` to the log, so reading them in this order sees it in at least one of the two.
    for (const { intent } of this.#open.read().open) keep(intent);
    for (const line of this.#log.readLines('"context":[', true))
      if (line.kind === "created" || line.kind === "not-created") keep(line);
    for (const name of unnamed) fs.rmSync(this.#locateText(name), { force: true });
  }

  /** Builds the record that remains of a forgotten request. */
  #recordNameless(entry: Omit<HistoryEntry, "request_id">, requestId: string): ForgottenRecord {
    const { origin, key_id, profile, sent_at: at, cost_dollars } = entry;
    const { usage } = Object(tryParseExact(this.results.read(getServiceAddress(entry), requestId) ?? ""));
    const tokens = entry.tokens ?? sumTokens(usage);
    return { kind: "forgotten", origin, key_id, profile, at, cost_dollars, tokens };
  }

  #listCounted(
    { origin, key_id }: Pick<CountedKey, "origin" | "key_id">,
    windowMs = WINDOW_MS,
    isMade = false,
  ): CountedAttempt[] {
    const now = this.now();
    const since = now - windowMs - MARGIN_MS + 1;
    return listCountedAttempts(this.#log, this.#read(), { origin, key_id, since, now, isMade });
  }

  /** Records that an attempt whose date is in the future counts as of now. */
  #redate(localId: string, { origin, apiKey }: CreateAttempt): void {
    const attempt = { local_id: localId, origin, key_id: hashApiKey(apiKey), at: this.#formatDate() };
    this.#log.append({ kind: "redated", ...attempt }, { sync: false });
  }

  #recordPending(intent: Intent): CreateRecorder {
    const forget = (requestId: string) => this.#forgetKept(getServiceAddress(intent), requestId);
    return new CreateRecorder(intent, this.#open, this.#log, forget, () => this.#formatDate());
  }

  /** Reads `open/`: unknown outcomes, and requests whose outcome could not be written to the log. */
  #readOpen(): { unknown: HistoryEntry[]; found: HistoryEntry[] } {
    const confirmed = this.#read().flatMap(({ intent, outcome }) =>
      outcome?.confirmed ? [buildCreatedRecord(intent, outcome)] : [],
    );
    return {
      unknown: this.#listUnknown().map(buildUnknownEntry),
      found: confirmed.map((record) => this.#mergeLastSeen(buildHistoryEntry(record))),
    };
  }

  #listUnknown(): OpenIntent[] {
    // After a crash, both the log and `open/` may have the create call. The line in the log takes precedence.
    return this.#read().filter(
      ({ intent, outcome }) => !outcome?.confirmed && !this.#log.has(intent.local_id),
    );
  }

  #mergeLastSeen(entry: HistoryEntry): HistoryEntry {
    const { request_id } = entry;
    if (request_id === null) return entry;
    let last: StateRecord | undefined;
    for (const line of this.#log.readLines(`"${request_id}"`))
      if (line.kind === "status" && buildRequestKey(line) === buildRequestKey({ ...entry, request_id }))
        last = mergeStateRecords(line, last);
    return last ? addNewerState(entry, last) : entry;
  }

  #read(): OpenIntent[] {
    try {
      const { open, torn } = this.#open.read();
      this.#torn = torn;
      return open;
    } catch (error) {
      if (isUnreadableHistory(error)) return [];
      throw createLocalError(`could not read the history in ${this.folder}`, error);
    }
  }

  #formatDate(): string {
    return new Date(this.now()).toISOString();
  }
}

/** Sorts entries by time of sending, newest first. */
function compareBySentTime(a: HistoryEntry, b: HistoryEntry): number {
  return Date.parse(b.sent_at) - Date.parse(a.sent_at);
}

/** Minimum length of the beginning of an id; a shorter one would match by accident. */
const SHORTEST_PREFIX = 4;

/** Minimum number of characters that are shown of a shortened id (contract §3). */
const SHOWN = 8;

/** Returns whether `id` begins with `text`, with or without the provider's prefix, whose characters do not count. */
function isIdPrefix(text: string, id: string): boolean {
  const rest = stripIdPrefix(id);
  return [id, rest].some(
    (candidate) =>
      candidate.startsWith(text) && text.length - (candidate.length - rest.length) >= SHORTEST_PREFIX,
  );
}
