import * as v from "valibot";
import { appendLine } from "../../../store/files.js";
import { linesBackward } from "../../../store/history/read-backward.js";

const text = v.string();
const maybe = v.nullable(v.string());

const error = v.looseObject({ code: text, message: text, exit_code: v.number() });
/** Why a row failed, in the JSON form of errors. */
export type RowError = v.InferOutput<typeof error>;

/** The create is about to be sent. `local_id` is its name in the history, null if no history is kept. */
const intent = v.looseObject({
  kind: v.literal("intent"),
  row: text,
  key: v.optional(text),
  digest: text,
  stem: text,
  local_id: maybe,
  at: text,
});
/** The request exists. */
const created = v.looseObject({
  kind: v.literal("created"),
  row: text,
  request_id: text,
  created_at: maybe,
  at: text,
});
/** Nothing was created: with an error the row was refused, without one it is to be sent again. */
const dismissed = v.looseObject({
  kind: v.literal("dismissed"),
  row: text,
  error: v.optional(error),
  at: text,
});
/** The request ended; if it was COMPLETED, its result is in `file`. `owed`: its end is unreported yet. */
const ended = v.looseObject({
  kind: v.literal("ended"),
  row: text,
  status: text,
  file: v.optional(text),
  error: v.optional(error),
  owed: v.optional(v.boolean()),
  cut_short: v.optional(v.boolean()),
  cost_dollars: v.optional(v.number()),
  at: text,
});
/** The row's end was reported. */
const announced = v.looseObject({ kind: v.literal("told"), row: text, at: text });

const line = v.variant("kind", [intent, created, dismissed, ended, announced]);
export type JournalLine = v.InferOutput<typeof line>;

/** What the journal knows of one row. */
export interface KnownRow {
  key: string | undefined;
  digest: string;
  /** The name of its result's file without the extension. */
  stem: string;
  localId: string | null;
  /** ISO 8601: the last attempt. */
  sentAt: string;
  /** `open`: begun, its outcome not recorded. `free`: nothing was created, and it may be sent again. */
  stage: "open" | "free" | "created" | "refused" | "ended";
  requestId?: string;
  createdAt?: string | null;
  status?: string;
  file?: string | undefined;
  error?: RowError | undefined;
  /** ISO 8601. */
  endedAt?: string;
  /** Whether the caller has still to be told of its end. */
  unreported?: boolean;
  /** Whether it FAILED with a part of a result. */
  cutShort?: boolean;
  costDollars?: number | undefined;
}

/** Adds one line; with `sync` it is on the disk when this returns. Throws the system's error. */
export function appendToJournal(path: string, entry: JournalLine, { sync = false } = {}): void {
  appendLine(path, JSON.stringify(entry), { sync });
}

/** What the lines of a journal say of each row. Torn lines, which a crash leaves, are skipped. */
export function readJournal(path: string): Map<string, KnownRow> {
  const lines: JournalLine[] = [];
  for (const bytes of linesBackward(path)) {
    const parsed = parse(bytes);
    if (parsed) lines.push(parsed);
  }
  const known = new Map<string, KnownRow>();
  for (const entry of lines.reverse()) {
    const next = afterLine(known.get(entry.row), entry);
    if (next) known.set(entry.row, next);
  }
  return known;
}

/** What is known of a row after one more line. */
export function afterLine(known: KnownRow | undefined, entry: JournalLine): KnownRow | undefined {
  if (entry.kind === "intent") {
    const { key, digest, stem, local_id, at } = entry;
    return { key, digest, stem, localId: local_id, sentAt: at, stage: "open" };
  }
  if (!known) return undefined;
  switch (entry.kind) {
    case "created": {
      const { request_id, created_at, at } = entry;
      return { ...known, stage: "created", requestId: request_id, createdAt: created_at, sentAt: at };
    }
    case "dismissed":
      return { ...known, stage: entry.error ? "refused" : "free", error: entry.error, endedAt: entry.at };
    case "ended": {
      const {
        status,
        file,
        error: why,
        owed: unreported = false,
        at,
        cut_short: cutShort = false,
        cost_dollars,
      } = entry;
      const end = { status, file, error: why, unreported, cutShort, costDollars: cost_dollars, endedAt: at };
      return { ...known, stage: "ended", ...end };
    }
    case "told":
      return { ...known, unreported: false };
  }
}

function parse(bytes: Buffer): JournalLine | undefined {
  try {
    const result = v.safeParse(line, JSON.parse(bytes.toString("utf8")));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}
