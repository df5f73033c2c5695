import * as v from "valibot";
import { isObject, parseExact, stringifyExact } from "../../../core/json/exact-json.js";
import { isRequestId, type JsonSchema } from "../../../core/protocol/conversation.js";

const finite = v.pipe(v.number(), v.finite());
/** Epoch ms. */
const time = finite;
const request_id = v.custom<string>((id) => typeof id === "string" && isRequestId(id));
const status = v.picklist(["COMPLETED", "FAILED", "STOPPED"]);
const job = v.object({
  request_id,
  prompt: v.string(),
  structured_output: v.boolean(),
  output_schema: v.exactOptional(v.custom<JsonSchema>(isObject)),
});

/** A conversation was created and counted. `key` is the id of its key. */
const created = v.object({
  kind: v.literal("created"),
  job,
  key: v.string(),
  at: time,
  model: v.optional(v.string()),
});

/** A conversation ended; it became PROCESSING at `started_at`. */
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

/** A compacted line for an ended conversation: `created` and `ended` together; `deleted` if only its cost is left. */
const finished = v.object({
  kind: v.literal("finished"),
  key: v.string(),
  at: time,
  ...end,
  deleted: v.exactOptional(v.literal(true)),
});

/** A worker of this service began the conversation. */
const begun = v.object({ kind: v.literal("begun"), request_id, at: time });

/** A conversation was deleted because it had ended long ago. */
const deleted = v.object({ kind: v.literal("deleted"), request_id });

/** A request counts in its key's hour; the journal keeps nothing else about it. */
const counted = v.object({
  kind: v.literal("counted"),
  operation: v.picklist(["create", "stop"]),
  key: v.string(),
  at: time,
});

/** The state of the request at the upstream service. Replaces any earlier line of the same conversation. */
const remote = v.object({
  kind: v.literal("remote"),
  request_id,
  at: v.string(),
  provider: v.string(),
  can_stop: v.boolean(),
  remote_id: v.exactOptional(v.string()),
  /** Whether the request still has to be stopped there. */
  cancel: v.exactOptional(v.boolean()),
  /** Whether the log already says that this stopped request may exist there. */
  lost: v.exactOptional(v.boolean()),
});

/** A create at the upstream service counts in the account's 24 hours. */
const sent = v.object({ kind: v.literal("sent"), request_id, account: v.string(), at: time });

/** The upstream service refused that create, so it no longer counts. */
const unsent = v.object({ kind: v.literal("unsent"), request_id });

/** A create at the upstream service created nothing; earlier lines about that request no longer hold. */
const released = v.object({ kind: v.literal("released"), request_id, reason: v.optional(v.string()) });

/** The state of the gate for creates at the upstream service. */
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

/** A line of the journal. Entries outlive the process. */
export type Entry = v.InferOutput<typeof entry>;
export type RemoteEntry = v.InferOutput<typeof remote>;
export type GateEntry = v.InferOutput<typeof gate>;
export type SentEntry = v.InferOutput<typeof sent>;

/** Serializes an entry as a line, with its newline. */
export function formatEntry(entry: Entry): string {
  return `${stringifyExact(entry)}\n`;
}

/** Parses a line. Crashes tear lines and people edit files, so an invalid line returns undefined. */
export function parseEntry(line: string): Entry | undefined {
  try {
    const parsed = v.safeParse(entry, parseExact(line, "job", "output_schema"));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
