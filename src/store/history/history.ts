import { join } from "node:path";
import { isFinal, ownPart } from "../../protocol/conversation.js";
import { localError, orLocalError } from "../errors.js";
import { makeFolder } from "../files.js";
import { AppendLog, isUnreadable, loggedEntries } from "./append-log.js";
import { KeptResults } from "./kept-results.js";
import { createdRecord, type OpenIntent, OpenIntents, RecordedCreate, unknownEntry } from "./open-intents.js";
import {
  type Attempt,
  entryOf,
  type HistoryEntry,
  type Intent,
  intentOf,
  keyId,
  NOT_CREATED,
  type Seen,
  type SeenDetails,
  timeOf,
  UNKNOWN,
  withSeen,
} from "./records.js";
import { type SameCreates, sameCreates, type WantedCreate } from "./same-creates.js";
import { attempts, type CountedAttempt, durations } from "./statistics.js";

export interface ListOptions {
  limit: number;
  accepts?: (entry: HistoryEntry) => boolean;
}

/** Requests in flight together are logged in any order: so many more lines are sorted before the cut. */
const REORDER = 256;

/** What this machine created: `history.jsonl` is the log, `open/` holds the creates whose outcome is not in it yet. */
export class History {
  readonly #folder: string;
  readonly #log: AppendLog;
  readonly #open: OpenIntents;
  /** The results of providers' requests. */
  readonly results: KeptResults;
  #torn = 0;

  /** Touches nothing yet. `now` gives epoch milliseconds. */
  constructor(
    folder: string,
    private readonly now: () => number,
  ) {
    this.#folder = folder;
    this.#log = new AppendLog(join(folder, "history.jsonl"));
    this.#open = new OpenIntents(join(folder, "open"));
    this.results = new KeptResults(join(folder, "results"), now);
  }

  /** Where it is kept. */
  get folder(): string {
    return this.#folder;
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
  list({ limit, accepts = () => true }: ListOptions): HistoryEntry[] {
    const { unknown, found } = this.#readOpen();
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
