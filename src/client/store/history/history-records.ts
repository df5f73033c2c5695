import * as v from "valibot";
import { parseEpochMs } from "../../../core/clock.js";
import { hashSha256 } from "../../../core/files/local-error.js";
import { copyWithExactMembers, isObject, tryParseExact } from "../../../core/json/exact-json.js";
import {
  type CreateBody,
  isFinal,
  isRequestId,
  type JsonSchema,
} from "../../../core/protocol/conversation.js";

/** The account with which a create call was sent. */
export type AccountOfEntry = Pick<HistoryEntry, "origin" | "base_path" | "profile" | "key_id">;

/** The fields of a request that are needed to record a state of it. */
export type StateSubject = Pick<HistoryEntry, "request_id" | "status" | "origin" | "created_at" | "sent_at"> &
  Partial<Pick<HistoryEntry, "profile" | "base_path" | "output_schema" | "message" | "cut_short">>;

/** Returns the address of a request's service: several services with their own ids may share one origin (a gateway). */
export function getServiceAddress({
  origin,
  base_path = "",
}: Pick<HistoryEntry, "origin" | "base_path">): string {
  return origin + base_path;
}

export const UNKNOWN = "UNKNOWN";

/** The state of a create call that the user settled as not created. */
export const NOT_CREATED = "NOT_CREATED";

/** The code of an attempt that created nothing and that the service did not count. */
export const RESOLVED = "RESOLVED";

const text = v.string();
/** An id from a file is untrusted, so reject it if it is not well-formed. */
export const id = v.pipe(
  text,
  v.check((value: string) => isRequestId(value)),
);
const maybe = v.nullable(v.string());
/** Keeps the parsed object, because a copy would lose the original text, and a repeated create call must send the same numbers. */
const schema = v.custom<JsonSchema>(isObject);

const account = v.looseObject({
  origin: text,
  /** The path of the base URL without a slash at its end; absent if it is empty. */
  base_path: v.fallback(v.optional(text), undefined),
  profile: v.fallback(maybe, null),
  /** The first digits of the key's digest. They distinguish keys, and do not reveal the key. */
  key_id: v.fallback(text, ""),
});
const { origin, base_path, profile, key_id } = account.entries;
const tokens = v.fallback(v.optional(v.number()), undefined);

const file = v.object({ name: text, chars: v.number(), sha256: v.pipe(text, v.regex(/^[0-9a-f]{64}$/)) });

export const intent = v.looseObject({
  kind: v.literal("intent"),
  local_id: id,
  /** When this machine sent the create call, ISO 8601 in UTC. */
  sent_at: text,
  ...account.entries,
  prompt: text,
  structured_output: v.fallback(v.boolean(), false),
  output_schema: v.fallback(v.nullable(schema), null),
  /** Only for a request at a provider: its model, its options, and the id of the request that it follows up on. */
  model: v.fallback(v.optional(text), undefined),
  options: v.fallback(v.optional(schema), undefined),
  after: v.fallback(v.optional(text), undefined),
  /** The context files. Each digest is the name of the file that keeps the text. */
  context: v.fallback(v.optional(v.array(file)), undefined),
  /** The account that was tried first, if this is a different one. */
  asked_of: v.fallback(v.optional(account), undefined),
});
export type Intent = v.InferOutput<typeof intent>;

/** A create call that is about to be sent. */
export interface CreateAttempt {
  origin: string;
  /** As in a HistoryEntry; empty if the base URL has no path. */
  basePath?: string | undefined;
  profile: string | null;
  apiKey: string;
  body: CreateBody;
  /** The account that was tried first, if this is a different one. Its key may be empty. */
  askedOf?: Omit<CreateAttempt, "body" | "askedOf"> | undefined;
}

/** Builds the record of an attempt; `sentAt` is ISO 8601. */
export function buildIntent({ body, askedOf, ...attempt }: CreateAttempt, sentAt: string): Intent {
  const { prompt, structured_output = false, output_schema = null } = body;
  const context = body.context?.map(({ text: _, ...file }) => file);
  return {
    ...{ kind: "intent", local_id: createLocalId(), sent_at: sentAt },
    ...{ ...pickAccountFields(attempt), ...(askedOf && { asked_of: pickAccountFields(askedOf) }) },
    ...{ prompt, structured_output, output_schema, ...pickProviderFields(body), ...(context && { context }) },
  };
}

function pickAccountFields({
  origin,
  basePath,
  profile,
  apiKey,
}: Omit<CreateAttempt, "body" | "askedOf">): AccountOfEntry {
  return { origin, profile, key_id: hashApiKey(apiKey), ...(basePath && { base_path: basePath }) };
}

/** Picks the fields of a create call that only providers accept. Undefined fields are left out, so that names and records do not contain them. */
export function pickProviderFields({
  model,
  options,
  after,
}: Pick<HistoryEntry, "model" | "options" | "after">) {
  return {
    ...(model !== undefined && { model }),
    ...(options !== undefined && { options }),
    ...(after !== undefined && { after }),
  };
}

/** A request that exists: its intent, and the service's answer, which arrived at the time `at`. */
export const created = v.looseObject({
  ...intent.entries,
  kind: v.literal("created"),
  request_id: id,
  status: v.fallback(text, "PENDING"),
  /** The service's time, verbatim; null if the service sent none. */
  created_at: v.fallback(maybe, null),
  /** The id that a follow-up at Parallel needs. */
  interaction_id: v.fallback(v.optional(text), undefined),
  at: text,
});
export type CreatedRecord = v.InferOutput<typeof created>;

/** A state of a request. A final state has `duration_ms` if the start is known. */
export const seen = v.looseObject({
  kind: v.literal("status"),
  request_id: id,
  ...{ origin, base_path },
  status: text,
  at: text,
  duration_ms: v.optional(v.number()),
  /** Whether the request ended FAILED with a partial result. */
  cut_short: v.optional(v.boolean()),
  /** The cost, if the provider reports it. `tokens`: input and output tokens together. */
  cost_dollars: v.optional(v.number()),
  tokens,
  /** The service's message about a stop or a failure. */
  message: v.fallback(v.optional(text), undefined),
});
export type StateRecord = v.InferOutput<typeof seen>;
/** The fields of a state that are recorded besides its name. */
export type StateDetails = Pick<StateRecord, "cut_short" | "cost_dollars" | "tokens" | "message">;

type Members<S extends { entries: v.ObjectEntries }> = v.InferOutput<v.ObjectSchema<S["entries"], undefined>>;

/** The history's entry of a request, or of a create call that got no readable answer (status `UNKNOWN`). */
export type HistoryEntry = Omit<Members<typeof created>, "kind" | "at" | "request_id"> &
  StateDetails & {
    /** Null for an unknown outcome, unless an id was found in a broken answer. */
    request_id: string | null;
    /** When this machine saw the end (ISO 8601 in UTC). `duration_ms`: time from the start of the request until then. */
    ended_at?: string | undefined;
    duration_ms?: number | undefined;
  };

/** Records that a create call whose own date was in the future counts from `at`, when this machine first noticed it. */
export const redated = v.looseObject({
  kind: v.literal("redated"),
  local_id: id,
  ...{ origin, key_id },
  at: text,
});

/** A create call that the service counted and refused. */
export const dismissed = v.looseObject({ ...redated.entries, kind: v.literal("dismissed"), code: text });

/** A create call that the user settled as not created, with the whole intent, so that it can be shown and sent again. */
export const notCreated = v.looseObject({ ...intent.entries, kind: v.literal("not-created"), at: text });
export type NotCreatedRecord = v.InferOutput<typeof notCreated>;

/** A create call whose prompt and id were removed. It still counts with its time of sending (`at`) and its cost. */
export const forgotten = v.looseObject({
  kind: v.literal("forgotten"),
  ...{ origin, key_id, profile },
  at: text,
  cost_dollars: v.fallback(v.optional(v.number()), undefined),
  tokens,
});
export type ForgottenRecord = v.InferOutput<typeof forgotten>;

const line = v.variant("kind", [created, seen, dismissed, redated, notCreated, forgotten]);
export type HistoryLine = v.InferOutput<typeof line>;

const KINDS: ReadonlySet<string> = new Set(line.options.map(({ entries }) => entries.kind.literal));

/** Parses a record; undefined if the text is not JSON. The schema and the options keep their original text. */
export function parseRecord(text: string): unknown {
  const record = tryParseExact(text, "output_schema");
  if (!isObject(record) || !isObject(record.options)) return record;
  const { options } = Object(tryParseExact(text, "options"));
  return { ...record, options: copyWithExactMembers(options) };
}

/** Parses one line of the history; undefined for a torn line, "other" for a kind of line from a later version. */
export function parseHistoryLine(bytes: Buffer | string): HistoryLine | "other" | undefined {
  const value = parseRecord(bytes.toString("utf8"));
  const result = v.safeParse(line, value);
  if (result.success) return result.output;
  const kind: unknown = Object(value).kind;
  return typeof kind === "string" && !KINDS.has(kind) ? "other" : undefined;
}

/** Builds the entry of an existing request. `last`: its last seen state. */
export function buildHistoryEntry(
  { kind: _, at: __, ...record }: CreatedRecord,
  last?: StateRecord,
): HistoryEntry {
  return last ? addNewerState(record, last) : record;
}

/** Merges a state with a newer line. If both are about the same state, the newer one adds to it, because a failure's reason may arrive later. */
export function mergeStateRecords(seen: StateRecord, later: StateRecord | undefined): StateRecord {
  return later?.status === seen.status ? { ...seen, ...later, at: seen.at } : (later ?? seen);
}

/** Returns the entry with the fields of a newer state. */
export function addNewerState(
  entry: HistoryEntry,
  { status, at, duration_ms, cut_short, cost_dollars, tokens, message }: StateRecord,
): HistoryEntry {
  return {
    ...entry,
    status,
    ...(isFinal(status) && { ended_at: at }),
    ...(duration_ms !== undefined && { duration_ms }),
    ...(cut_short && { cut_short }),
    ...(cost_dollars !== undefined && { cost_dollars }),
    ...(tokens !== undefined && { tokens }),
    ...(message !== undefined && { message }),
  };
}

/** Builds the entry of a create call that the user settled as not created. */
export function buildNotCreatedEntry({ kind: _, at: __, ...record }: NotCreatedRecord): HistoryEntry {
  return { ...record, request_id: null, status: NOT_CREATED, created_at: null };
}

/** Returns the sum of input and output tokens in a `usage`, or Gemini's total; undefined if it has no counts. */
export function sumTokens(usage: unknown): number | undefined {
  const { input_tokens, output_tokens, total_tokens } = Object(usage);
  const isNumber = (count: unknown) => typeof count === "number";
  const counts = [input_tokens, output_tokens].filter(isNumber);
  return counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : [total_tokens].find(isNumber);
}

/** Sums amounts of dollars or tokens, rounded to nine decimals; undefined for an empty list. */
export function sumCosts(amounts: readonly number[]): number | undefined {
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  return amounts.length === 0 ? undefined : Number(sum.toFixed(9));
}

/** Returns when a request began, in epoch ms: the service's time, but not before it was sent, because the service's clock may differ. */
export function findStartTime(entry: Pick<HistoryEntry, "created_at" | "sent_at">): number {
  return Math.max(parseEpochMs(entry.created_at) ?? 0, Date.parse(entry.sent_at));
}

/** Creates the id that a create call has on this machine before the service gives it one. */
function createLocalId(): string {
  return `local-${process.getBuiltinModule("node:crypto").randomBytes(6).toString("hex")}`;
}

/** Returns the first digits of a key's digest, which distinguish keys in the history without revealing them. */
export function hashApiKey(apiKey: string): string {
  return hashSha256(apiKey).slice(0, 12);
}
