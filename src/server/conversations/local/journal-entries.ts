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

/** How a conversation ended, which was PROCESSING first at `started_at`. */
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

/** A compacted conversation that had ended: `created` and `ended` in one line; `deleted` if only its cost is left. */
const finished = v.object({
  kind: v.literal("finished"),
  key: v.string(),
  at: time,
  ...end,
  deleted: v.exactOptional(v.literal(true)),
});

/** The work on a conversation has begun here. */
const begun = v.object({ kind: v.literal("begun"), request_id, at: time });

/** A conversation was deleted because it ended long ago. */
const deleted = v.object({ kind: v.literal("deleted"), request_id });

/** A request counts in its key's hour, though nothing else of it is kept. */
const counted = v.object({
  kind: v.literal("counted"),
  operation: v.picklist(["create", "stop"]),
  key: v.string(),
  at: time,
});

/** What is known of the request at another service. It replaces what an earlier line says of the same conversation. */
const remote = v.object({
  kind: v.literal("remote"),
  request_id,
  at: v.string(),
  provider: v.string(),
  can_stop: v.boolean(),
  remote_id: v.exactOptional(v.string()),
  /** Whether it is still to be stopped there. */
  cancel: v.exactOptional(v.boolean()),
  /** Whether it was said of a stopped one that it is not known whether it exists there. */
  lost: v.exactOptional(v.boolean()),
});

/** A create at another service counts in the 24 hours of that account. */
const sent = v.object({ kind: v.literal("sent"), request_id, account: v.string(), at: time });

/** It was refused there, and does not count any more. */
const unsent = v.object({ kind: v.literal("unsent"), request_id });

/** A create at another service has created nothing; what an earlier line says of a request there is over. */
const released = v.object({ kind: v.literal("released"), request_id, reason: v.optional(v.string()) });

/** What is known of creates at another service. */
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

/** A line of the journal: something that has to outlive the process. */
export type Entry = v.InferOutput<typeof entry>;
export type RemoteEntry = v.InferOutput<typeof remote>;
export type GateEntry = v.InferOutput<typeof gate>;
export type SentEntry = v.InferOutput<typeof sent>;

/** An entry as a line, with its newline. */
export function formatEntry(entry: Entry): string {
  return `${stringifyExact(entry)}\n`;
}

/** Reads a line as data from outside: a crash tears lines, and people edit files. Undefined for an invalid one. */
export function parseEntry(line: string): Entry | undefined {
  try {
    const parsed = v.safeParse(entry, parseExact(line, "job", "output_schema"));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
