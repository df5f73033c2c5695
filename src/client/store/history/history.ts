import * as fs from "node:fs";
import { join } from "node:path";
import { listNames, makeFolder, readIfThere, replaceFile } from "../../../core/files/files.js";
import {
  catchLocalError,
  createLocalError,
  LocalError,
  runLocally,
} from "../../../core/files/local-error.js";
import { lock } from "../../../core/files/lock.js";
import { readJsonPath } from "../../../core/json/exact-json.js";
import { type ContextFile, isFinal, stripIdPrefix } from "../../../core/protocol/conversation.js";
import { DAY_MS, WINDOW_MS } from "../../../core/protocol/limits.js";
import { findSameCreates, type SameCreates, type WantedCreate } from "./create-names.js";
import {
  type CountedAttempt,
  type CountedKey,
  computeHour,
  type HourlyUsage,
  listAttempts,
  MARGIN_MS,
} from "./hour.js";
import { KeptResults } from "./kept-results.js";
import { AppendLog, buildIdKey, isUnreadable, LOCK_WAIT_MS, readEntries } from "./log.js";
import { buildCreatedRecord, buildUnknownEntry, type OpenIntent, OpenIntents } from "./open-intents.js";
import { RecordedCreate } from "./recorded-create.js";
import {
  type Attempt,
  addSeen,
  buildEntry,
  buildIntent,
  type ForgottenRecord,
  getService,
  type HistoryEntry,
  hashKeyId,
  type Intent,
  mergeSeen,
  NOT_CREATED,
  parseTime,
  readTokens,
  type Seen,
  type SeenDetails,
  type SeenRecord,
  sumOf,
  UNKNOWN,
} from "./records.js";

/** The creates allowed for one key at one origin; absent for no limit. */
export interface CreateLimits {
  perHour?: number | undefined;
  /** In 24 hours. */
  perDay?: number | undefined;
}

/** The cost that the services reported; null for a figure that no service reported. */
export interface AccountSpent {
  requests: number;
  running: number;
  dollars: number | null;
  /** Input and output tokens together. */
  tokens: number | null;
  /** The number of ended requests that reported neither cost nor tokens. */
  unsaid: number;
}

export interface HistoryQuery {
  limit: number;
  /** Lists only requests in this state, in upper or lower case. */
  status?: string | undefined;
  accepts?: (entry: HistoryEntry) => boolean;
}

/** A request with a kept result or check. */
type KeptRequest = Parameters<typeof buildIdKey>[0];

/** How many extra lines are read before sorting: requests that were sent together are logged in any order. */
const REORDER = 256;

/** Contract §11. */
const MAX_CHECK_BYTES = 4 << 20;

/** The creates of this machine: `history.jsonl` is the log, `open/` holds creates whose outcome is not in the log yet. */
export class History {
  readonly #log: AppendLog;
  readonly #open: OpenIntents;
  #torn = 0;

  /** Opens no file yet. `folder` holds the history; `now` returns epoch milliseconds. */
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

  /** The outcomes of checks of requests' results. */
  get checks(): KeptResults {
    return new KeptResults(join(this.folder, "checks"), this.now, MAX_CHECK_BYTES);
  }

  /** Returns the files before the question of a request, with their texts. Throws LocalError if one is not kept any more. */
  findContext({ context }: HistoryEntry): ContextFile[] | undefined {
    return context?.map((file) => {
      const path = this.#locateText(file.sha256);
      const text = runLocally("a context could not be read", () => readIfThere(path));
      if (text !== undefined) return { ...file, text };
      throw new LocalError(`the text of ${file.name} is not kept here any more: give it with --context`);
    });
  }

  /** Returns the path of a text, whose name is its digest. */
  #locateText(name: string): string {
    return join(this.folder, "contexts", name);
  }

  /** Keeps a text in `results` or `checks`, but nothing of a request that was forgotten meanwhile. Throws LocalError. */
  keep(store: KeptResults, request: KeptRequest, text: string, replaces = false): void {
    const [service, requestId] = [getService(request), request.request_id];
    store.keep(service, requestId, text, replaces);
    // `forget` removes the record before the kept texts, so a text written after that must be removed here.
    if (!this.#isRecorded(request)) store.forget(service, requestId);
  }

  #isRecorded(request: KeptRequest): boolean {
    for (const line of this.#log.readLines(`"${request.request_id}"`))
      if (line.kind === "created" && buildIdKey(line) === buildIdKey(request)) return true;
    return this.#readOpen().found.some(
      ({ request_id, ...entry }) =>
        request_id !== null && buildIdKey({ ...entry, request_id }) === buildIdKey(request),
    );
  }

  /** Removes the kept result and check of a request at a service. Throws LocalError. */
  #forgetKept(service: string, requestId: string): void {
    for (const each of [this.results, this.checks]) each.forget(service, requestId);
  }

  /** Lines and files that could not be read so far. */
  get skipped(): number {
    return this.#torn + this.#log.skipped;
  }

  /** Puts the intent of a create on the disk, synced; only `reserve` may do it for one with a context. Throws LocalError: then nothing may be sent. */
  begin(attempt: Attempt): RecordedCreate {
    const intent = buildIntent(attempt, this.#formatDate());
    runLocally(`could not record the request before sending it in ${this.folder}`, () => {
      makeFolder(this.folder);
      if (attempt.body.context) makeFolder(this.#locateText("."));
      for (const { sha256, text = "" } of attempt.body.context ?? [])
        if (!fs.existsSync(this.#locateText(sha256))) replaceFile(this.#locateText(sha256), text);
      this.#open.add(intent);
    });
    return this.#recordPending(intent);
  }

  /** Lists unknown outcomes first, then the newest first by the time of sending, since providers' times are whole seconds. */
  list({ limit, status, accepts: isWanted = () => true }: HistoryQuery): HistoryEntry[] {
    const { unknown, found: openEntries } = this.#readOpen();
    const wanted = status?.toUpperCase();
    const isAccepted = (entry: HistoryEntry) =>
      isWanted(entry) && (wanted === undefined || entry.status.toUpperCase() === wanted);
    const entries = new Map(openEntries.map((entry) => [entry.local_id, entry]));
    for (const entry of readEntries(this.#log)) {
      // A create that was settled as never made is not listed. It is found by its local id.
      if (entry.status !== NOT_CREATED && isAccepted(entry)) entries.set(entry.local_id, entry);
      if (entries.size >= limit + REORDER) break;
    }
    const listed = [unknown, [...entries.values()]].map((some) =>
      some.filter(isAccepted).sort(compareByTime),
    );
    return listed.flat().slice(0, limit);
  }

  /** Finds the newest entry that `isOurs` accepts, by the time of sending; includes unknown outcomes. */
  findNewest(isOurs: (entry: HistoryEntry) => boolean): HistoryEntry | undefined {
    const unknown = this.#readOpen().unknown.filter(isOurs);
    const knownEntries = this.list({
      limit: REORDER,
      accepts: (entry) => isOurs(entry) && entry.status !== UNKNOWN,
    });
    return [...unknown, ...knownEntries].sort(compareByTime)[0];
  }

  /**
   * Finds the entry with this request id or local id: the newest that `isPreferred` accepts, else the newest. Without one,
   * finds the entries whose ids begin with it; that takes four characters beyond a provider's prefix.
   */
  find(id: string, isPreferred: (entry: HistoryEntry) => boolean = () => true): HistoryEntry[] {
    const { unknown, found: openEntries } = this.#readOpen();
    const opened = [...unknown, ...openEntries];
    const isWhole = (entry: HistoryEntry) => entry.request_id === id || entry.local_id === id;
    const hasBeginning = ({ local_id, request_id }: HistoryEntry) =>
      [local_id, request_id ?? ""].some((candidate) => isBeginning(id, candidate));
    let whole = opened.find(isWhole);
    if (whole && isPreferred(whole)) return [whole];
    const entries = new Map(opened.filter(hasBeginning).map((entry) => [entry.local_id, entry]));
    for (const entry of readEntries(this.#log, id)) {
      // The lines of its states do not have its local id, so they were not read.
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

  /** Measures the shortest unique beginning of an id in this history: at least eight characters after a provider's prefix. */
  measureNameLength(id: string): number {
    let length = id.length - stripIdPrefix(id).replace("local-", "").length + SHOWN;
    const others = this.find(id.slice(0, length)).flatMap(({ request_id, local_id }) =>
      request_id === id || local_id === id ? [] : [request_id ?? "", local_id],
    );
    while (length < id.length && others.some((other) => isBeginning(id.slice(0, length), other))) length++;
    return Math.min(length, id.length);
  }

  /** Keeps a state of a request in the history. Not synced, since a state can be requested again. */
  observe(entry: Seen, status: string, details: SeenDetails = {}): void {
    const isNews = entry.status !== status || (details.message ?? entry.message) !== entry.message;
    if (entry.request_id === null || !isNews) return;
    const hasEnded = isFinal(status) && !isFinal(entry.status);
    const duration = hasEnded ? { duration_ms: this.now() - parseTime(entry) } : {};
    const { request_id, origin, base_path } = entry;
    const seen = { kind: "status", request_id, origin, base_path, status, at: this.#formatDate() } as const;
    this.#log.append({ ...seen, ...duration, ...details }, { sync: false });
  }

  /** Finds the entry of the create with this local id; "dismissed" if it was dismissed, undefined if it is not recorded. */
  findOutcome(localId: string): HistoryEntry | "dismissed" | undefined {
    const entry = this.find(localId).find(({ local_id }) => local_id === localId);
    if (entry) return entry.status === NOT_CREATED ? "dismissed" : entry;
    for (const line of this.#log.readLines(`"${localId}"`))
      if (line.kind === "dismissed" && line.local_id === localId) return "dismissed";
    return undefined;
  }

  /** Lists how long the last finished runs of an origin took, in ms, the newest first; none if the history cannot be read. */
  listDurations(origin: string, limit: number): number[] {
    const listed: number[] = [];
    catchLocalError(() => {
      for (const line of this.#log.readLines('"duration_ms":')) {
        if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
        // The clock was set back during the run.
        if (line.duration_ms < 0) continue;
        listed.push(line.duration_ms);
        if (listed.length >= limit) break;
      }
    });
    return listed;
  }

  /** Sums the reported costs of one key at an origin since `since` (epoch ms). Leaves out unknown outcomes. */
  sumSpent({ origin, key_id }: Pick<CountedKey, "origin" | "key_id">, since: number): AccountSpent {
    const isIn = (entry: { origin: string; key_id: string }, date: string) =>
      entry.origin === origin && entry.key_id === key_id && Date.parse(date) >= since;
    const isAccepted = (entry: HistoryEntry) => entry.status !== UNKNOWN && isIn(entry, entry.sent_at);
    const made = this.list({ limit: Number.POSITIVE_INFINITY, accepts: isAccepted });
    const ended: Partial<HistoryEntry>[] = made.filter(({ status }) => isFinal(status));
    const running = made.length - ended.length;
    for (const line of this.#log.readLines('"forgotten"'))
      if (line.kind === "forgotten" && isIn(line, line.at)) ended.push(line);
    const sum = (name: "cost_dollars" | "tokens") =>
      sumOf(ended.flatMap((entry) => entry[name] ?? [])) ?? null;
    const unsaid = ended.filter((entry) => (entry.cost_dollars ?? entry.tokens) === undefined);
    return {
      ...{ requests: ended.length + running, running, unsaid: unsaid.length },
      ...{ dollars: sum("cost_dollars"), tokens: sum("tokens") },
    };
  }

  /** Counts the creates of a key in the last hour, including refused and unknown ones. `limit`: creates allowed per hour. */
  countHour({ origin, apiKey }: Pick<Attempt, "origin" | "apiKey">, limit: number): HourlyUsage {
    return computeHour(this.#listCounted({ origin, key_id: hashKeyId(apiKey) }), limit, this.now());
  }

  /** Counts the creates of the last hour of a key of which only the id is known. */
  countHourly(key: Pick<CountedKey, "origin" | "key_id">): number {
    return this.#listCounted(key).length;
  }

  /** Counts the last 24 hours in the same way, but without refused creates. */
  countDay({ origin, apiKey }: Pick<Attempt, "origin" | "apiKey">, limit: number): HourlyUsage {
    const attempts = this.#listCounted({ origin, key_id: hashKeyId(apiKey) }, DAY_MS, true);
    return computeHour(attempts, limit, this.now(), DAY_MS);
  }

  /**
   * Begins a create if fewer than `perHour` creates count in the last hour and fewer than `perDay` in the last 24. Counting
   * and writing the intent are one step for all processes of this machine, so that no two of them take the same slot.
   * Throws LocalError, or `signal.reason` if that is aborted while another process counts.
   */
  async reserve(
    attempt: Attempt,
    { perHour = Number.POSITIVE_INFINITY, perDay = Number.POSITIVE_INFINITY }: CreateLimits,
    signal?: AbortSignal,
  ): Promise<{ pending: RecordedCreate } | { fullUntil: number; isDay: boolean }> {
    let release = () => {};
    try {
      makeFolder(this.folder);
      release = await lock(join(this.folder, "hour.lock"), LOCK_WAIT_MS, signal);
      const attempts = this.#listCounted({ origin: attempt.origin, key_id: hashKeyId(attempt.apiKey) });
      // If they counted as of now each time, they would fill the hour until the clock reaches their date.
      for (const { localId, isAhead } of attempts) if (isAhead) this.#redate(localId, attempt);
      const day = perDay === Number.POSITIVE_INFINITY ? 0 : this.countDay(attempt, perDay).nextAt;
      // Read the time after the day was counted, or a day with places left would seem full.
      const now = this.now();
      if (day > now) return { fullUntil: day, isDay: true };
      const { nextAt } = computeHour(attempts, perHour, now);
      return nextAt > now ? { fullUntil: nextAt, isDay: false } : { pending: this.begin(attempt) };
    } catch (error) {
      signal?.throwIfAborted();
      throw createLocalError("the creates of this hour could not be counted", error);
    } finally {
      release();
    }
  }

  /** Finds the creates that are the same as `wanted`: those made since `since` (epoch ms), and all with an unknown outcome. */
  findSame(wanted: WantedCreate, since: number): SameCreates {
    return findSameCreates(
      this.#log,
      { unknown: this.#listUnknown(), found: this.#readOpen().found },
      wanted,
      since,
    );
  }

  /** Settles an unknown outcome, with null as never created; undefined if there is no such unknown. Throws LocalError. */
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
   * Removes prompt, context, id and result from the disk; time, account and cost stay. Also removes the texts of contexts that
   * no record names. Rejects with LocalError.
   */
  async forget(entries: readonly HistoryEntry[]): Promise<void> {
    const names = new Set(entries.map(({ local_id }) => local_id));
    const requests = new Map<string, ForgottenRecord>();
    for (const { request_id, ...entry } of entries)
      if (request_id !== null)
        requests.set(buildIdKey({ ...entry, request_id }), this.#recordNameless(entry, request_id));
    const unlogged = new Map(requests);
    let release = () => {};
    try {
      release = await lock(join(this.folder, "hour.lock"), LOCK_WAIT_MS);
      // The texts go first: after a crash the records are still there, and can be forgotten again.
      this.#dropContexts(names);
      if (names.size === 0) return;
      for (const name of names) this.#open.remove(name);
      const forgetKept = () => {
        for (const { request_id, ...entry } of entries)
          if (request_id !== null) this.#forgetKept(getService(entry), request_id);
      };
      forgetKept();
      await this.#log.rewrite((line) => {
        if (line.kind === "status") return requests.has(buildIdKey(line)) ? undefined : line;
        if (line.kind === "forgotten" || !names.has(line.local_id)) return line;
        if (line.kind !== "created") return undefined;
        unlogged.delete(buildIdKey(line));
        return requests.get(buildIdKey(line));
      });
      for (const record of unlogged.values()) this.#log.append(record, { sync: true });
      // Another command may have kept a text before the record was removed.
      forgetKept();
    } catch (error) {
      throw createLocalError(`could not forget requests in ${this.folder}`, error);
    } finally {
      release();
    }
  }

  /** Removes the texts that only records of `leaving` (local ids) name. The caller holds the lock, so no create names one meanwhile. */
  #dropContexts(leaving: ReadonlySet<string>): void {
    const unnamed = new Set(listNames(this.#locateText(".")));
    if (unnamed.size === 0) return;
    const keep = ({ local_id, context = [] }: Pick<HistoryEntry, "local_id" | "context">) => {
      if (!leaving.has(local_id)) for (const { sha256 } of context) unnamed.delete(sha256);
    };
    // A create moves from `open/` to the log: in this order it is seen in one of the two.
    for (const { intent } of this.#open.read().open) keep(intent);
    for (const line of this.#log.readLines('"context":[', true))
      if (line.kind === "created" || line.kind === "not-created") keep(line);
    for (const name of unnamed) fs.rmSync(this.#locateText(name), { force: true });
  }

  /** Builds the record that remains of a forgotten request. */
  #recordNameless(entry: Omit<HistoryEntry, "request_id">, requestId: string): ForgottenRecord {
    const { origin, key_id, profile, sent_at: at, cost_dollars } = entry;
    const { usage } = Object(readJsonPath(this.results.read(getService(entry), requestId) ?? ""));
    const tokens = entry.tokens ?? readTokens(usage);
    return { kind: "forgotten", origin, key_id, profile, at, cost_dollars, tokens };
  }

  #listCounted(
    { origin, key_id }: Pick<CountedKey, "origin" | "key_id">,
    windowMs = WINDOW_MS,
    isMade = false,
  ): CountedAttempt[] {
    const now = this.now();
    const since = now - windowMs - MARGIN_MS + 1;
    return listAttempts(this.#log, this.#read(), { origin, key_id, since, now, isMade });
  }

  /** Records that an attempt dated after the current time counts as of now. */
  #redate(localId: string, { origin, apiKey }: Attempt): void {
    const attempt = { local_id: localId, origin, key_id: hashKeyId(apiKey), at: this.#formatDate() };
    this.#log.append({ kind: "redated", ...attempt }, { sync: false });
  }

  #recordPending(intent: Intent): RecordedCreate {
    const forget = (requestId: string) => this.#forgetKept(getService(intent), requestId);
    return new RecordedCreate(intent, this.#open, this.#log, forget, () => this.#formatDate());
  }

  /** Reads `open/`: unknown outcomes, and requests whose outcome fitted only there. */
  #readOpen(): { unknown: HistoryEntry[]; found: HistoryEntry[] } {
    const confirmed = this.#read().flatMap(({ intent, outcome }) =>
      outcome?.confirmed ? [buildCreatedRecord(intent, outcome)] : [],
    );
    return {
      unknown: this.#listUnknown().map(buildUnknownEntry),
      found: confirmed.map((record) => this.#mergeLastSeen(buildEntry(record))),
    };
  }

  #listUnknown(): OpenIntent[] {
    // A crash before the intent was removed leaves both, and the log's line takes precedence.
    return this.#read().filter(
      ({ intent, outcome }) => !outcome?.confirmed && !this.#log.has(intent.local_id),
    );
  }

  #mergeLastSeen(entry: HistoryEntry): HistoryEntry {
    const { request_id } = entry;
    if (request_id === null) return entry;
    let last: SeenRecord | undefined;
    for (const line of this.#log.readLines(`"${request_id}"`))
      if (line.kind === "status" && buildIdKey(line) === buildIdKey({ ...entry, request_id }))
        last = mergeSeen(line, last);
    return last ? addSeen(entry, last) : entry;
  }

  #read(): OpenIntent[] {
    try {
      const { open, torn } = this.#open.read();
      this.#torn = torn;
      return open;
    } catch (error) {
      if (isUnreadable(error)) return [];
      throw createLocalError(`could not read the history in ${this.folder}`, error);
    }
  }

  #formatDate(): string {
    return new Date(this.now()).toISOString();
  }
}

/** The newest first. */
function compareByTime(a: HistoryEntry, b: HistoryEntry): number {
  return Date.parse(b.sent_at) - Date.parse(a.sent_at);
}

/** The shortest beginning of an id; a shorter one would match by accident. */
const SHORTEST_PREFIX = 4;

/** The least number of characters of a cut id (contract §3). */
const SHOWN = 8;

/** Whether an id begins with a text, with or without the provider's prefix, which does not count. */
function isBeginning(text: string, id: string): boolean {
  const rest = stripIdPrefix(id);
  return [id, rest].some(
    (candidate) =>
      candidate.startsWith(text) && text.length - (candidate.length - rest.length) >= SHORTEST_PREFIX,
  );
}
