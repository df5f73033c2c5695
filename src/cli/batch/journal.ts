import * as v from "valibot";
import { appendLine } from "../../store/files.js";
import { linesBackward } from "../../store/history/read-backward.js";

const text = v.string();
const maybe = v.nullable(v.string());

const error = v.looseObject({ code: text, message: text, exit_code: v.number() });
/** Why a row came to nothing, in the words of the JSON form of errors. */
export type RowError = v.InferOutput<typeof error>;

/** About to be sent. `local_id` is its name in the history, null where none is kept. */
const intent = v.looseObject({
  kind: v.literal("intent"),
  row: text,
  key: v.optional(text),
  digest: text,
  stem: text,
  local_id: maybe,
  at: text,
});
/** It exists. */
const created = v.looseObject({
  kind: v.literal("created"),
  row: text,
  request_id: text,
  created_at: maybe,
  at: text,
});
/** It does not exist: turned down for good where there is an error, else to be sent again. */
const dismissed = v.looseObject({
  kind: v.literal("dismissed"),
  row: text,
  error: v.optional(error),
  at: text,
});
/** It ended; where it was COMPLETED, its result is in `file`. `owed`: a command is to be run for it. */
const ended = v.looseObject({
  kind: v.literal("ended"),
  row: text,
  status: text,
  file: v.optional(text),
  error: v.optional(error),
  owed: v.optional(v.boolean()),
  at: text,
});
/** The command was run. */
const told = v.looseObject({ kind: v.literal("told"), row: text, at: text });

const line = v.variant("kind", [intent, created, dismissed, ended, told]);
export type JournalLine = v.InferOutput<typeof line>;

/** What the journal knows of one row. */
export interface Known {
  key: string | undefined;
  digest: string;
  /** The name of its result's file without the ending. */
  stem: string;
  localId: string | null;
  /** ISO 8601: the last attempt. */
  sentAt: string;
  /** `open`: begun, and no word of its outcome. `free`: nothing was created, and it may be sent again. */
  stage: "open" | "free" | "created" | "refused" | "ended";
  requestId?: string;
  createdAt?: string | null;
  status?: string;
  file?: string | undefined;
  error?: RowError | undefined;
  /** ISO 8601: when it came to its end. */
  endedAt?: string;
  owed?: boolean;
}

/** Adds one line, on the disk when this returns with `sync`. Throws the system's error. */
export function append(path: string, entry: JournalLine, { sync = false } = {}): void {
  appendLine(path, JSON.stringify(entry), { sync });
}

/** What the lines of a journal say of each row; torn lines are passed over, as a crash leaves them. */
export function readJournal(path: string): Map<string, Known> {
  const lines: JournalLine[] = [];
  for (const bytes of linesBackward(path)) {
    const parsed = parse(bytes);
    if (parsed) lines.push(parsed);
  }
  const known = new Map<string, Known>();
  for (const entry of lines.reverse()) {
    const next = after(known.get(entry.row), entry);
    if (next) known.set(entry.row, next);
  }
  return known;
}

/** What is known of a row after one more line. Pure. */
export function after(known: Known | undefined, entry: JournalLine): Known | undefined {
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
      const { status, file, error: why, owed = false, at } = entry;
      return { ...known, stage: "ended", status, file, error: why, owed, endedAt: at };
    }
    case "told":
      return { ...known, owed: false };
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
