import * as v from "valibot";
import { readLinesBackward } from "../../../core/files/read-lines-backward.js";
import { tryParseExact } from "../../../core/json/exact-json.js";
import type { History } from "../../store/history/history.js";
import { UNKNOWN } from "../../store/history/history-records.js";

const text = v.string();
const maybe = v.nullable(v.string());

const error = v.looseObject({ code: text, message: text, exit_code: v.number() });
/** Why a row failed, in the JSON format of errors. */
export type RowError = v.InferOutput<typeof error>;

/** Records that a create call is about to be sent. `local_id`: null without a history. */
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
/** Records that the request exists. */
const created = v.looseObject({
  kind: v.literal("created"),
  row: text,
  request_id: text,
  created_at: maybe,
  at: text,
});
/** Records that nothing was created. With `error` the row was refused; without it the row may be sent again. */
const dismissed = v.looseObject({
  kind: v.literal("dismissed"),
  row: text,
  error: v.optional(error),
  at: text,
});
/** Records that the request ended. `file`: the file of its result, if it was COMPLETED. */
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
/** When the sources of a row's result were checked, and how many citations have each verdict. */
export type RowCheck = v.InferOutput<typeof check>;

/** Records that the sources of a row's result were checked. */
const checked = v.looseObject({ kind: v.literal("checked"), row: text, check, at: text });

const line = v.variant("kind", [intent, created, dismissed, ended, checked]);
export type JournalLine = v.InferOutput<typeof line>;

/** What is known about the request of a row. */
export interface RowFacts {
  /** The name of the result's file without its extension. */
  stem: string;
  requestId?: string | undefined;
  /** The request's local id in the history. */
  localId?: string | undefined;
  /** The service to which the row was sent; undefined if it was not sent. */
  origin?: string | undefined;
  profile?: string | null | undefined;
  createdAt?: string | null | undefined;
  /** The time of the last attempt, ISO 8601. */
  sentAt?: string | undefined;
  /** The time of the end, ISO 8601. */
  endedAt?: string | undefined;
  file?: string | undefined;
  error?: RowError | undefined;
  /** The cost, if the provider reports it. */
  costDollars?: number | undefined;
  /** The caller's data about the result. */
  note?: unknown;
  /** Whether the request ended FAILED with a partial result. */
  cutShort?: boolean | undefined;
  check?: RowCheck | undefined;
}

/** The state of one row according to the journal. */
export interface KnownRow extends RowFacts {
  key: string | undefined;
  digest: string;
  sentAt: string;
  /** `open`: begun, without a recorded outcome. `free`: nothing was created, so the row may be sent again. */
  stage: "open" | "free" | "created" | "refused" | "ended";
  status?: string;
}

/** Reads the state of each row from a journal. Skips incomplete lines, which a crash leaves. */
export function readJournal(path: string): Map<string, KnownRow> {
  const lines: JournalLine[] = [];
  for (const bytes of readLinesBackward(path)) {
    const parsed = v.safeParse(line, tryParseExact(bytes.toString("utf8")));
    if (parsed.success) lines.push(parsed.output);
  }
  const knownRows = new Map<string, KnownRow>();
  for (const entry of lines.reverse()) {
    const next = computeNextRow(knownRows.get(entry.row), entry);
    if (next) knownRows.set(entry.row, next);
  }
  return knownRows;
}

/** Returns the state of a row after one more line of the journal; undefined for a line without an intent before it. */
export function computeNextRow(row: KnownRow | undefined, entry: JournalLine): KnownRow | undefined {
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
 * Returns the rows, with the outcome from the history for each row that was begun and has none in the journal, because a command
 * died in between or the outcome is unknown. A row whose create call the history does not know stays `open`, an unknown outcome.
 */
export function mergeHistoryOutcomes(
  knownRows: ReadonlyMap<string, KnownRow>,
  history: Pick<History, "findOutcome"> | undefined,
): Map<string, KnownRow> {
  return new Map(
    Array.from(knownRows, ([id, row]) => [
      id,
      row.stage === "open" ? completeRowFromHistory(row, history) : row,
    ]),
  );
}

function completeRowFromHistory(row: KnownRow, history: Pick<History, "findOutcome"> | undefined): KnownRow {
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
