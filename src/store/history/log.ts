import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { epochOf } from "../../clock.js";
import { exactJson, jsonIn, roundedNumbers } from "../../json/exact-json.js";
import { isObject } from "../../json/is-object.js";
import { waitWhileHeld } from "../../lock.js";
import { type CreateBody, isRequestId, type JsonSchema } from "../../protocol/conversation.js";
import {
  appendLine,
  discard,
  linesBackward,
  localError,
  makeFolder,
  namesIn,
  replaceFile,
  systemCode,
} from "../files.js";

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

/** A create that the service counted and refused. */
export const dismissed = v.looseObject({
  kind: v.literal("dismissed"),
  local_id: id,
  origin: text,
  key_id: v.fallback(text, ""),
  at: text,
  code: text,
});

/** A create whose own line is dated ahead of the clock counts at `at` instead: when that was noticed. */
export const redated = v.looseObject({
  kind: v.literal("redated"),
  local_id: id,
  origin: text,
  key_id: v.fallback(text, ""),
  at: text,
});

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
  return `local-${crypto().randomBytes(6).toString("hex")}`;
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

/** In hexadecimal. */
export function sha256(text: string): string {
  return crypto().createHash("sha256").update(text).digest("hex");
}

/** Loaded by what needs it: most commands do not, and it costs up to a tenth of what they take. */
function crypto() {
  return process.getBuiltinModule("node:crypto");
}

const LINE_BREAK = Buffer.from("\n");
/** To rewrite 100,000 lines takes about a second; a holder of this many milliseconds is stuck. */
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
    const { lockWithin } = await import("../../lock.js");
    const release = await lockWithin(this.#lock, LOCK_WAIT_MS);
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
