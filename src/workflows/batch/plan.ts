import type { KnownRow, RowError } from "./folder/journal.js";
import { fileStem, type Row } from "./row.js";

/** Where a row stands. `waiting` is still to be sent; `unknown` may have been created, and is not sent again. */
export type Standing = "waiting" | "running" | "done" | "failed" | "refused" | "stopped" | "unknown";

/** A row and all that is known of it while the batch runs. */
export interface RowState {
  row: Row;
  standing: Standing;
  /** The name of its result's file without the extension. */
  stem: string;
  requestId?: string | undefined;
  localId?: string | undefined;
  /** The last state seen. */
  status: string | null;
  createdAt?: string | null | undefined;
  /** ISO 8601: when it was sent. */
  sentAt?: string | undefined;
  /** ISO 8601: when it ended. */
  endedAt?: string | undefined;
  file?: string | undefined;
  error?: RowError | undefined;
  /** What it cost, where the provider says it. */
  costDollars?: number | undefined;
  /** Whether it FAILED with a part of a result. */
  cutShort?: boolean | undefined;
  /** Whether its end has still to be announced to the caller (`--on-done`). */
  announce: "pending" | "done" | "later";
}

export interface PlanOptions {
  retryFailed?: boolean;
  /** Whether a row whose result was cut short is sent again. */
  retryPartial?: boolean;
  resendUnknown?: boolean;
}

/**
 * What is to be done with each row, from what the journal knows of it. `hasFile` says whether a result's file is
 * still in the folder: a COMPLETED row whose file was deleted is watched and fetched again.
 */
export function planRows(
  rows: readonly Row[],
  known: ReadonlyMap<string, KnownRow>,
  options: PlanOptions,
  hasFile: (name: string) => boolean,
): RowState[] {
  const stems = new Set(Array.from(known.values(), ({ stem }) => caseless(stem)));
  return rows.map((row) => {
    const before = known.get(row.id);
    const standing = before?.digest === row.digest ? standingOf(before, options, hasFile) : "waiting";
    const stem = before?.stem ?? freeStem(row, stems);
    stems.add(caseless(stem));
    if (!before || standing === "waiting") return { row, standing, stem, status: null, announce: "later" };
    return { row, standing, stem, ...whatIsKnown(before, standing) };
  });
}

function whatIsKnown(before: KnownRow, standing: Standing): Omit<RowState, "row" | "standing" | "stem"> {
  const { requestId, localId, createdAt, sentAt, endedAt, file, error, unreported, costDollars, cutShort } =
    before;
  const isOver = before.stage === "ended";
  return {
    ...{ requestId, createdAt, sentAt, endedAt, error, costDollars, cutShort, localId: localId ?? undefined },
    status: standing === "running" && isOver ? null : (before.status ?? null),
    file: standing === "running" ? undefined : file,
    announce: unreported ? "pending" : isOver ? "done" : "later",
  };
}

function standingOf(known: KnownRow, options: PlanOptions, hasFile: (name: string) => boolean): Standing {
  const retry = options.retryFailed ? "waiting" : undefined;
  switch (known.stage) {
    case "free":
      return "waiting";
    case "open":
      return options.resendUnknown ? "waiting" : "unknown";
    case "created":
      return "running";
    case "refused":
      return retry ?? "refused";
    case "ended":
      if (known.status === "COMPLETED") return known.file && !hasFile(known.file) ? "running" : "done";
      if (known.status === "STOPPED") return "stopped";
      return (known.cutShort ? options.retryPartial && "waiting" : retry) || "failed";
  }
}

/** The key, or the line. A line's name may be taken by the row that had that line in an earlier command. */
function freeStem(row: Row, taken: ReadonlySet<string>): string {
  const stem = row.key === undefined ? `line-${row.line}` : fileStem(row.key);
  return taken.has(caseless(stem)) ? `${stem}-${row.digest.slice(0, 8)}` : stem;
}

/** Some file systems ignore case and Unicode normalisation in names. */
function caseless(stem: string): string {
  return stem.normalize("NFC").toLowerCase();
}

/** Rows whose key was sent with another request body, which may exist. */
export function changedRows(rows: readonly Row[], known: ReadonlyMap<string, KnownRow>): Row[] {
  return rows.filter((row) => {
    const before = known.get(row.id);
    if (!before || before.digest === row.digest) return false;
    // Nothing was created for a refused row, so a corrected prompt under the same key is a new attempt.
    return before.stage !== "free" && before.stage !== "refused";
  });
}

/** Rows still to be sent whose result would overwrite a `foreign` file, with the name of that file. */
export function occupiedFiles(
  states: readonly RowState[],
  foreign: ReadonlySet<string>,
): { file: string; row: Row }[] {
  return states.flatMap(({ stem, standing, row }) => {
    if (standing !== "waiting") return [];
    const file = [`${stem}.md`, `${stem}.json`].find((name) => foreign.has(name));
    return file ? [{ file, row }] : [];
  });
}

/** The state of a row in one word, also if there is no request. */
export function stateWord({ standing, status }: RowState): string {
  if (standing === "refused") return "REFUSED";
  if (standing === "unknown") return "UNKNOWN";
  return status ?? "WAITING";
}
