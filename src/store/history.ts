import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { CreateBody } from "../protocol/conversation.js";
import { isFinal } from "../protocol/conversation.js";
import type { Data } from "../protocol/envelope.js";
import { linesBackward } from "./backward.js";
import { inWords, LocalError, systemCode } from "./errors.js";
import { appendLine, makeFolder } from "./files.js";
import { createdRecord, type OpenIntent, OpenIntents, type Outcome } from "./open.js";
import {
  type CreatedRecord,
  type Entry,
  entryOf,
  type Intent,
  type Line,
  readLine,
  UNKNOWN,
} from "./records.js";

export interface Attempt {
  origin: string;
  profile: string | null;
  apiKey: string;
  body: CreateBody;
}

/** A create on its way through the history. */
export interface Pending {
  readonly localId: string;
  /** An id was seen in an answer that may be no success. Throws LocalError where it cannot be kept. */
  salvaged(requestId: string): void;
  /** The request exists. Throws LocalError where that cannot be kept. */
  created(requestId: string, data: Data): void;
  /** Nothing was created. With `code`, the service said so and may have counted it. */
  dismissed(code?: string): void;
}

export interface ListOptions {
  limit: number;
  accepts?: (entry: Entry) => boolean;
}

/**
 * Requests in flight together may be logged in another order than the service created them in; so many more
 * lines than asked for are put in order before the rest is cut off.
 */
const REORDER = 256;

/**
 * What this machine created. `history.jsonl` is append-only: a line for each request, and for each state seen
 * later. `open/` holds the creates whose outcome is not in it yet: what is left there is an unknown outcome.
 */
export class History {
  readonly #log: string;
  readonly #open: OpenIntents;
  readonly #now: () => number;
  #skipped = 0;

  /** Touches nothing yet. `now` gives epoch milliseconds. */
  constructor(folder: string, now: () => number) {
    this.#log = join(folder, "history.jsonl");
    this.#open = new OpenIntents(join(folder, "open"));
    this.#now = now;
    this.#folder = folder;
  }
  readonly #folder: string;

  /** Lines and files that could not be read so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Puts the intent of a create on the disk, synced. Nothing may be sent before this returns. Throws
   * LocalError: then nothing may be sent at all.
   */
  begin({ origin, profile, apiKey, body }: Attempt): Pending {
    const record: Intent = {
      kind: "intent",
      local_id: `local-${randomBytes(6).toString("hex")}`,
      sent_at: this.#date(),
      origin,
      profile,
      key_id: keyId(apiKey),
      prompt: body.prompt,
      structured_output: body.structured_output ?? false,
      output_schema: body.output_schema ?? null,
    };
    try {
      makeFolder(this.#folder);
      this.#open.add(record);
    } catch (error) {
      throw this.#error("record the request before sending it", error);
    }
    return this.#pending(record);
  }

  /** Unknown outcomes first, then the newest first by `created_at`. */
  list({ limit, accepts = () => true }: ListOptions): Entry[] {
    const { unknown, found } = this.#readOpen();
    const entries = new Map(found.map((record) => [record.local_id, entryOf(record)]));
    const states = new Map<string, string>();
    for (const line of this.#lines()) {
      if (line.kind === "status" && !states.has(line.request_id)) states.set(line.request_id, line.status);
      if (line.kind !== "created") continue;
      const entry = entryOf(line, states.get(line.request_id));
      if (accepts(entry)) entries.set(line.local_id, entry);
      if (entries.size >= limit + REORDER) break;
    }
    const rest = [...entries.values()].filter(accepts).sort((a, b) => time(b) - time(a));
    return [...unknown.filter(accepts).sort((a, b) => time(b) - time(a)), ...rest].slice(0, limit);
  }

  /** The newest entry of an origin, an unknown outcome included. */
  newest(origin: string): Entry | undefined {
    const { unknown } = this.#readOpen();
    const accepts = (entry: Entry) => entry.origin === origin;
    const [latest] = this.list({ limit: 1, accepts: (entry) => accepts(entry) && entry.status !== UNKNOWN });
    const sent = (entry: Entry) => Date.parse(entry.sent_at);
    return [...unknown.filter(accepts), ...(latest ? [latest] : [])].sort((a, b) => sent(b) - sent(a))[0];
  }

  /**
   * The entries whose request id or local id is `id`, or where there is none, begins with it. A whole match
   * ends the search, so a long history costs nothing for a recent id.
   */
  find(id: string): Entry[] {
    const { unknown, found } = this.#readOpen();
    const opened = [...unknown, ...found.map((record) => entryOf(record))];
    const whole = opened.find((entry) => entry.request_id === id || entry.local_id === id);
    if (whole && whole.status === UNKNOWN) return [whole];
    const states = new Map<string, string>();
    const entries = new Map<string, Entry>();
    for (const entry of opened) if (begins(entry, id)) entries.set(entry.local_id, entry);
    for (const line of this.#lines(`"${id}`)) {
      if (line.kind === "status" && !states.has(line.request_id)) states.set(line.request_id, line.status);
      if (line.kind !== "created") continue;
      const entry = entryOf(line, states.get(line.request_id));
      if (entry.request_id === id || entry.local_id === id) return [this.#latest(entry, states)];
      if (begins(entry, id)) entries.set(entry.local_id, entry);
    }
    if (whole) return [this.#latest(whole, states)];
    return [...entries.values()].map((entry) => this.#latest(entry, states));
  }

  /** Keeps a state that was seen of a request in the history. Not synced: it can be asked for again. */
  observe(entry: Entry, status: string): void {
    if (entry.status === status || entry.request_id === null) return;
    const begun = Date.parse(entry.created_at ?? entry.sent_at);
    const duration = isFinal(status) && !isFinal(entry.status) ? { duration_ms: this.#now() - begun } : {};
    this.#append(
      {
        kind: "status",
        request_id: entry.request_id,
        origin: entry.origin,
        status,
        at: this.#date(),
        ...duration,
      },
      false,
    );
  }

  /** How long the last finished runs of an origin took, in milliseconds, the newest first. */
  durations(origin: string, limit: number): number[] {
    const durations: number[] = [];
    for (const line of this.#lines('"duration_ms":')) {
      if (line.kind === "status" && line.origin === origin && line.duration_ms !== undefined)
        durations.push(line.duration_ms);
      if (durations.length >= limit) break;
    }
    return durations;
  }

  /**
   * When (epoch ms) this machine asked `origin` with this key for creates since `since`: those that were made,
   * those that were turned down, and those nobody knows of.
   */
  attempts(origin: string, apiKey: string, since: number): number[] {
    const id = keyId(apiKey);
    const { unknown, found } = this.#readOpen();
    const times = new Map<string, number>();
    const counts = (entry: { origin: string; key_id: string }) =>
      entry.origin === origin && entry.key_id === id;
    for (const entry of unknown) if (counts(entry)) times.set(entry.local_id, Date.parse(entry.sent_at));
    for (const record of found) if (counts(record)) times.set(record.local_id, Date.parse(record.at));
    for (const line of this.#lines()) {
      if (Date.parse(line.at) < since) break;
      if (line.kind !== "status" && counts(line)) times.set(line.local_id, Date.parse(line.at));
    }
    return [...times.values()].filter((at) => at >= since);
  }

  /**
   * Settles an unknown outcome: as `requestId`, or with null as never created. Throws LocalError where that
   * cannot be kept; returns undefined where there is no such unknown.
   */
  resolve(localId: string, requestId: string | null): Entry | undefined {
    const open = this.#open
      .read()
      .open.find(({ intent, outcome }) => intent.local_id === localId && !outcome?.confirmed);
    if (!open || this.#isLogged(localId)) return undefined;
    const pending = this.#pending(open.intent);
    if (requestId === null) pending.dismissed("RESOLVED");
    else pending.created(requestId, {});
    return {
      ...unknownEntry(open),
      request_id: requestId,
      status: requestId === null ? "NOT_CREATED" : "PENDING",
    };
  }

  #pending(record: Intent): Pending {
    return {
      localId: record.local_id,
      salvaged: (requestId) =>
        this.#note(record, {
          request_id: requestId,
          confirmed: false,
          status: UNKNOWN,
          created_at: null,
          at: this.#date(),
        }),
      created: (requestId, data) => {
        const text = (value: unknown) => (typeof value === "string" ? value : undefined);
        const outcome: Outcome = {
          request_id: requestId,
          confirmed: true,
          status: text(data.status) ?? "PENDING",
          created_at: text(data.created_at) ?? null,
          at: this.#date(),
        };
        try {
          this.#append(createdRecord(record, outcome), true);
        } catch {
          // No room for another line: there is room beside the intent.
          return this.#note(record, outcome);
        }
        this.#open.remove(record.local_id);
      },
      dismissed: (code) => {
        const { local_id, origin, key_id } = record;
        try {
          if (code !== undefined) {
            this.#append({ kind: "dismissed", local_id, origin, key_id, at: this.#date(), code }, false);
          }
        } catch {
          // Only the count of the hour suffers, and it suffers on the side of one create too many.
        }
        this.#open.remove(local_id);
      },
    };
  }

  #note(record: Intent, outcome: Outcome): void {
    try {
      this.#open.note(record, outcome);
    } catch (error) {
      throw this.#error(`record the request id ${outcome.request_id}`, error);
    }
  }

  /** Open intents as unknown entries, and as records those whose outcome found room only there. */
  #readOpen(): { unknown: Entry[]; found: CreatedRecord[] } {
    try {
      const { open, torn } = this.#open.read();
      this.#skipped += torn;
      const known = open.filter(({ outcome }) => outcome?.confirmed);
      // A crash between the log's line and the end of the intent leaves both: the line is what holds.
      const unknown = open.filter(
        ({ intent, outcome }) => !outcome?.confirmed && !this.#isLogged(intent.local_id),
      );
      return {
        unknown: unknown.map(unknownEntry),
        found: known.flatMap(({ intent, outcome }) => (outcome ? [createdRecord(intent, outcome)] : [])),
      };
    } catch (error) {
      if (unreadable(error)) return { unknown: [], found: [] };
      throw this.#error("read the history", error);
    }
  }

  #isLogged(localId: string): boolean {
    for (const line of this.#lines(`"${localId}"`))
      if (line.kind !== "status" && line.local_id === localId) return true;
    return false;
  }

  /** A state can be logged by another process before the line of the create it belongs to. */
  #latest(entry: Entry, states: ReadonlyMap<string, string>): Entry {
    return { ...entry, status: states.get(entry.request_id ?? "") ?? entry.status };
  }

  *#lines(needle?: string): Generator<Line> {
    try {
      for (const bytes of linesBackward(this.#log, needle)) {
        const line = readLine(bytes);
        if (line === undefined) this.#skipped++;
        else if (line !== "other") yield line;
      }
    } catch (error) {
      if (!unreadable(error)) throw this.#error("read the history", error);
    }
  }

  #append(line: Line, sync: boolean): void {
    makeFolder(this.#folder);
    appendLine(this.#log, JSON.stringify(line), { sync });
  }

  #error(what: string, cause: unknown): LocalError {
    return new LocalError(`could not ${what} in ${this.#folder}: ${inWords(cause)}`, { cause });
  }

  #date(): string {
    return new Date(this.#now()).toISOString();
  }
}

/** Tells keys apart in the history without keeping one: the start of a digest. */
export function keyId(apiKey: string): string {
  return createHash("sha256").update(apiKey).digest("hex").slice(0, 12);
}

function unknownEntry({ intent, outcome }: OpenIntent): Entry {
  const { kind: _, ...rest } = intent;
  return { ...rest, request_id: outcome?.request_id ?? null, status: UNKNOWN, created_at: null };
}

function begins(entry: Entry, id: string): boolean {
  return entry.local_id.startsWith(id) || (entry.request_id?.startsWith(id) ?? false);
}

function time(entry: Entry): number {
  return Date.parse(entry.created_at ?? "") || Date.parse(entry.sent_at);
}

/** A history that may not be looked at is like none for whoever only asks about it. */
function unreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "ENOTDIR"].includes(systemCode(error) ?? "");
}
