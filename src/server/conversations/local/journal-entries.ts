import * as v from "valibot";
import { isObject, parseExact, stringifyExact } from "../../../core/json/exact-json.js";
import { isRequestId, type JsonSchema } from "../../../core/protocol/conversation.js";

const finite = v.pipe(v.number(), v.finite());
/** A time in epoch ms. */
const time = finite;
const request_id = v.custom<string>((id) => typeof id === "string" && isRequestId(id));
const status = v.picklist(["COMPLETED", "FAILED", "STOPPED"]);
const job = v.object({
  request_id,
  prompt: v.string(),
  structured_output: v.boolean(),
  output_schema: v.exactOptional(v.custom<JsonSchema>(isObject)),
});

/** Records that a conversation was created and counted. `key`: the id of its key. */
const created = v.object({
  kind: v.literal("created"),
  job,
  key: v.string(),
  at: time,
  model: v.optional(v.string()),
});

/** The fields that record the end of a conversation, which became PROCESSING at `started_at`. */
const end = {
  request_id,
  status,
  started_at: v.optional(time),
  ended_at: time,
  reason: v.optional(v.string()),
  cost_dollars: v.optional(finite),
  input_tokens: v.optional(finite),
  output_tokens: v.optional(finite),
  model: v.optional(v.string()),
};
const ended = v.object({ kind: v.literal("ended"), ...end });

/** Records an ended conversation in a compacted journal, instead of `created` and `ended`. `deleted`: only its cost is left. */
const finished = v.object({
  kind: v.literal("finished"),
  key: v.string(),
  at: time,
  ...end,
  deleted: v.exactOptional(v.literal(true)),
});

/** Records that a worker of this service began the conversation. */
const begun = v.object({ kind: v.literal("begun"), request_id, at: time });

/** Records that a conversation was deleted, long after its end. */
const deleted = v.object({ kind: v.literal("deleted"), request_id });

/** Records that a request counts in its key's hour; the journal keeps nothing else about that request. */
const counted = v.object({
  kind: v.literal("counted"),
  operation: v.picklist(["create", "stop"]),
  key: v.string(),
  at: time,
});

/** Records the state of a conversation's request at the upstream service. Replaces any earlier such line. */
const remote = v.object({
  kind: v.literal("remote"),
  request_id,
  at: v.string(),
  provider: v.string(),
  can_stop: v.boolean(),
  remote_id: v.exactOptional(v.string()),
  /** Whether the request still has to be stopped at the upstream service. */
  cancel: v.exactOptional(v.boolean()),
  /** Whether the operators' log already says that this stopped request may exist upstream. */
  lost: v.exactOptional(v.boolean()),
});

/** Records that a create call at the upstream service counts in the account's 24 hours. */
const sent = v.object({ kind: v.literal("sent"), request_id, account: v.string(), at: time });

/** Records that the upstream service refused that create call, so that it no longer counts. */
const unsent = v.object({ kind: v.literal("unsent"), request_id });

/** Records that a create call at the upstream service created nothing. Earlier lines about that request are void. */
const released = v.object({ kind: v.literal("released"), request_id, reason: v.optional(v.string()) });

/** Records the state of the gate for create calls at the upstream service. */
const gate = v.object({
  kind: v.literal("gate"),
  at: time,
  gate: v.object({
    kind: v.exactOptional(v.picklist(["limit", "account", "unknown"])),
    reason: v.string(),
    atOnce: finite,
    failures: finite,
    unknowns: finite,
    waitMs: finite,
  }),
});

const entry = v.variant("kind", [
  created,
  ended,
  finished,
  begun,
  deleted,
  counted,
  remote,
  released,
  gate,
  sent,
  unsent,
]);

/** A line of the journal. */
export type JournalEntry = v.InferOutput<typeof entry>;
export type RemoteEntry = v.InferOutput<typeof remote>;
export type GateEntry = v.InferOutput<typeof gate>;
export type SentEntry = v.InferOutput<typeof sent>;

/** Formats an entry as a line that ends with a newline. */
export function formatJournalEntry(entry: JournalEntry): string {
  return `${stringifyExact(entry)}\n`;
}

/** Parses a line; undefined for an invalid one, because crashes cut off lines and people edit files. */
export function parseJournalEntry(line: string): JournalEntry | undefined {
  try {
    const parsed = v.safeParse(entry, parseExact(line, "job", "output_schema"));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
