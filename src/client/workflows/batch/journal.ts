import * as v from "valibot";
import { readLinesBackward } from "../../../core/files/lines-backward.js";
import { readJsonPath } from "../../../core/json/exact-json.js";
import type { History } from "../../store/history/history.js";
import { UNKNOWN } from "../../store/history/records.js";

const text = v.string();
const maybe = v.nullable(v.string());

const error = v.looseObject({ code: text, message: text, exit_code: v.number() });
/** Why a row failed, in the JSON form of errors. */
export type RowError = v.InferOutput<typeof error>;

/** The create is about to be sent. `local_id`: null without a history. */
const intent = v.looseObject({
  kind: v.literal("intent"),
  row: text,
  key: v.optional(text),
  digest: text,
  stem: text,
  local_id: maybe,
  origin: text,
  profile: maybe,
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
/** The request ended; if it was COMPLETED, its result is in `file`. */
const ended = v.looseObject({
  kind: v.literal("ended"),
  row: text,
  status: text,
  file: v.optional(text),
  error: v.optional(error),
  cut_short: v.optional(v.boolean()),
  cost_dollars: v.optional(v.number()),
  note: v.optional(v.unknown()),
  at: text,
});
const check = v.looseObject({
  checked_at: text,
  counts: v.record(text, v.number()),
  metrics: v.optional(v.record(text, v.nullable(v.number()))),
});
/** When the sources of a row's result were read, and how many citations have which verdict. */
export type RowCheck = v.InferOutput<typeof check>;

/** The sources of the row's result were read. */
const checked = v.looseObject({ kind: v.literal("checked"), row: text, check, at: text });

const line = v.variant("kind", [intent, created, dismissed, ended, checked]);
export type JournalLine = v.InferOutput<typeof line>;

/** The facts about the request of a row. */
export interface RowFacts {
  /** The name of its result's file without the extension. */
  stem: string;
  requestId?: string | undefined;
  /** Its name in the history. */
  localId?: string | undefined;
  /** The service that it was sent to; undefined if it was not sent. */
  origin?: string | undefined;
  profile?: string | null | undefined;
  createdAt?: string | null | undefined;
  /** ISO 8601: the last attempt. */
  sentAt?: string | undefined;
  /** ISO 8601. */
  endedAt?: string | undefined;
  file?: string | undefined;
  error?: RowError | undefined;
  /** The cost, if the provider reports it. */
  costDollars?: number | undefined;
  /** The caller's data about the result. */
  note?: unknown;
  /** Whether it FAILED with a part of a result. */
  cutShort?: boolean | undefined;
  check?: RowCheck | undefined;
}

/** The state of one row by the journal. */
export interface KnownRow extends RowFacts {
  key: string | undefined;
  digest: string;
  sentAt: string;
  /** `open`: begun, its outcome not recorded. `free`: nothing was created, and it may be sent again. */
  stage: "open" | "free" | "created" | "refused" | "ended";
  status?: string;
}

/** Reads the state of each row from the lines of a journal. Skips torn lines, which a crash leaves. */
export function readJournal(path: string): Map<string, KnownRow> {
  const lines: JournalLine[] = [];
  for (const bytes of readLinesBackward(path)) {
    const parsed = v.safeParse(line, readJsonPath(bytes.toString("utf8")));
    if (parsed.success) lines.push(parsed.output);
  }
  const knownRows = new Map<string, KnownRow>();
  for (const entry of lines.reverse()) {
    const next = applyLine(knownRows.get(entry.row), entry);
    if (next) knownRows.set(entry.row, next);
  }
  return knownRows;
}

/** Applies one more line to the state of a row. */
export function applyLine(row: KnownRow | undefined, entry: JournalLine): KnownRow | undefined {
  if (entry.kind === "intent") {
    const { key, digest, stem, local_id, origin, profile, at } = entry;
    return { key, digest, stem, localId: local_id ?? undefined, origin, profile, sentAt: at, stage: "open" };
  }
  if (!row) return undefined;
  switch (entry.kind) {
    case "created": {
      const { request_id, created_at, at } = entry;
      return { ...row, stage: "created", requestId: request_id, createdAt: created_at, sentAt: at };
    }
    case "dismissed":
      return { ...row, stage: entry.error ? "refused" : "free", error: entry.error, endedAt: entry.at };
    case "ended": {
      const { status, file, error: why, at, cut_short = false, cost_dollars, note } = entry;
      const end = { status, file, error: why, cutShort: cut_short, endedAt: at };
      return { ...row, stage: "ended", ...end, costDollars: cost_dollars, note, check: undefined };
    }
    case "checked":
      return { ...row, check: entry.check };
  }
}

/**
 * Settles rows that were begun and whose outcome the journal does not have: a command died between the two, or
 * the outcome is unknown. A row whose create the history does not know stays open, which is an unknown outcome.
 */
export function reconcile(
  knownRows: ReadonlyMap<string, KnownRow>,
  history: Pick<History, "findOutcome"> | undefined,
): Map<string, KnownRow> {
  return new Map(
    Array.from(knownRows, ([id, row]) => [id, row.stage === "open" ? settleRow(row, history) : row]),
  );
}

function settleRow(row: KnownRow, history: Pick<History, "findOutcome"> | undefined): KnownRow {
  const create = row.localId === undefined ? undefined : history?.findOutcome(row.localId);
  if (create === undefined) return row;
  if (create === "dismissed") return { ...row, stage: "free" };
  const { request_id, created_at, sent_at, status } = create;
  if (status === UNKNOWN || request_id === null) return row;
  return {
    ...row,
    ...{ stage: "created", requestId: request_id, createdAt: created_at, sentAt: sent_at, status },
  };
}
