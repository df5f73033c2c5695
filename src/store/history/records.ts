import * as v from "valibot";
import { epochOf } from "../../clock.js";
import { parseExactAt } from "../../json/exact-json.js";
import { isObject } from "../../json/is-object.js";
import { roundedNumbers } from "../../json/rounded-numbers.js";
import { type CreateBody, isRequestId, type JsonSchema } from "../../protocol/conversation.js";

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
  let value: unknown;
  try {
    value = parseExactAt(bytes.toString("utf8"), "output_schema");
  } catch {
    return undefined;
  }
  const result = v.safeParse(line, value);
  if (result.success) return result.output;
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
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
