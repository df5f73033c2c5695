import * as v from "valibot";
import { exactJson, parseExactAt } from "../../../../json/exact-json.js";
import { isObject } from "../../../../json/is-object.js";
import { isRequestId, type JsonSchema } from "../../../../protocol/conversation.js";

const time = v.pipe(v.number(), v.finite());
const requestId = v.pipe(
  v.string(),
  v.check((id: string) => isRequestId(id)),
);
const job = v.object({
  request_id: requestId,
  prompt: v.string(),
  structured_output: v.boolean(),
  output_schema: v.exactOptional(v.custom<JsonSchema>(isObject)),
});

/** A conversation was created and counted. `key` is the id of its key, `at` epoch ms. */
const created = v.object({
  kind: v.literal("created"),
  job,
  key: v.string(),
  at: time,
});

/**
 * A conversation ended, and was PROCESSING first at `started_at` (epoch ms). `output` stands in journals of version 0.1; since then an output is a file of its own. An
 * `ended_at` (epoch ms) is missing there too, and `completed_at` says the same.
 */
const ended = v.object({
  kind: v.literal("ended"),
  request_id: requestId,
  status: v.picklist(["COMPLETED", "FAILED", "STOPPED"]),
  started_at: v.exactOptional(time),
  ended_at: v.exactOptional(time),
  completed_at: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  output: v.exactOptional(v.unknown()),
});

/** A conversation that had ended when the journal was compacted: `created` and `ended` in one line. */
const finished = v.object({
  kind: v.literal("finished"),
  request_id: requestId,
  key: v.string(),
  at: time,
  status: ended.entries.status,
  started_at: v.exactOptional(time),
  ended_at: time,
  reason: v.exactOptional(v.string()),
});

/** A conversation was deleted because it ended long ago. */
const deleted = v.object({ kind: v.literal("deleted"), request_id: requestId });

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
  request_id: requestId,
  at: v.string(),
  provider: v.string(),
  can_stop: v.boolean(),
  remote_id: v.exactOptional(v.string()),
  /** Whether it is still to be stopped there. */
  cancel: v.exactOptional(v.boolean()),
});

const entry = v.variant("kind", [created, ended, finished, deleted, counted, remote]);

/** A line of the journal: something that has to outlive the process. */
export type Entry = v.InferOutput<typeof entry>;
export type EndedEntry = v.InferOutput<typeof ended>;
export type RemoteEntry = v.InferOutput<typeof remote>;

/** An entry as a line, with its newline. */
export function lineOf(entry: Entry): Buffer {
  return Buffer.from(`${exactJson(entry)}\n`);
}

/** Reads a line as data from outside: a crash tears lines, and people edit files. Undefined for an invalid one. */
export function parseEntry(line: string): Entry | undefined {
  try {
    const parsed = v.safeParse(entry, parseExactAt(line, "job", "output_schema"));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
