import { nextSlot } from "../../protocol/limits.js";
import type { Fault } from "./input/records.js";
import type { Known, RowError } from "./journal.js";
import { fileStem, nameOf, type Row } from "./row.js";

/** Where a row stands. `waiting` is still to be sent; `unknown` was, perhaps, and is held. */
export type Standing = "waiting" | "running" | "done" | "failed" | "refused" | "stopped" | "unknown";

/** A row and all that is known of it while the batch runs. */
export interface RowState {
  row: Row;
  standing: Standing;
  /** The name of its result's file without the ending. */
  stem: string;
  requestId?: string | undefined;
  localId?: string | undefined;
  /** The last state seen. */
  status: string | null;
  createdAt?: string | null | undefined;
  /** ISO 8601: when it was sent. */
  sentAt?: string | undefined;
  /** ISO 8601: when it came to its end. */
  endedAt?: string | undefined;
  file?: string | undefined;
  error?: RowError | undefined;
  /** Whether a command is still to be run for it. */
  owed: boolean;
}

export interface PlanOptions {
  retryFailed?: boolean;
  resendUnknown?: boolean;
}

/** What is to be done with each row, from what the journal knows of it. Pure. */
export function planRows(
  rows: readonly Row[],
  known: ReadonlyMap<string, Known>,
  options: PlanOptions,
): RowState[] {
  const stems = new Set(Array.from(known.values(), ({ stem }) => stem));
  return rows.map((row) => {
    const before = known.get(row.id);
    const standing = before?.digest === row.digest ? standingOf(before, options) : "waiting";
    const stem = before?.stem ?? freeStem(row, stems);
    stems.add(stem);
    if (!before || standing === "waiting") return { row, standing, stem, status: null, owed: false };
    const { requestId, localId, createdAt, sentAt, endedAt, file, error, owed = false } = before;
    const status = before.status ?? null;
    return {
      ...{ row, standing, stem, status, requestId, createdAt, sentAt, endedAt, file, error, owed },
      localId: localId ?? undefined,
    };
  });
}

function standingOf(known: Known, options: PlanOptions): Standing {
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
      if (known.status === "COMPLETED") return "done";
      return known.status === "STOPPED" ? "stopped" : (retry ?? "failed");
  }
}

/** The key, or the line. Lines move when rows are added, so a line's name may be taken by the row that was there. */
function freeStem(row: Row, taken: ReadonlySet<string>): string {
  const stem = row.key === undefined ? `line-${row.line}` : fileStem(row.key);
  return taken.has(stem) ? `${stem}-${row.digest.slice(0, 8)}` : stem;
}

/** Rows whose key stands for a request that asked something else. Pure. */
export function changedKeys(rows: readonly Row[], known: ReadonlyMap<string, Known>): Fault[] {
  return rows.flatMap((row) => {
    const before = known.get(row.id);
    if (!before || before.digest === row.digest) return [];
    // Nothing was created for it, so whoever mended the prompt meant this one.
    if (before.stage === "free" || before.stage === "refused") return [];
    const reason = `the prompt or schema of the key ${JSON.stringify(row.key)} has changed since it was sent`;
    return [{ line: row.line, reason: `${reason}; give it another key, or take another --out` }];
  });
}

/** Rows whose result would land on a file that is not this batch's. Pure. */
export function occupied(states: readonly RowState[], foreign: ReadonlySet<string>): string[] {
  return states.flatMap(({ stem, standing, row }) => {
    if (standing !== "waiting") return [];
    const file = [`${stem}.md`, `${stem}.json`].find((name) => foreign.has(name));
    return file ? [`${file} (for ${nameOf(row)})`] : [];
  });
}

/**
 * When (epoch ms) each of `count` creates may be sent, the first at `now` or later: fewer than `limit` of all
 * `attempts` in any hour, and fewer than `share` of one's `own`. Pure.
 */
export function sendTimes(
  count: number,
  { attempts, limit, own, share }: { attempts: number[]; limit: number; own: number[]; share: number },
  now: number,
): number[] {
  const windows = [
    { times: [...attempts].sort((a, b) => a - b), limit },
    { times: [...own].sort((a, b) => a - b), limit: share },
  ].filter((window) => window.limit !== Number.POSITIVE_INFINITY);
  const sent: number[] = [];
  for (let at = now; sent.length < count; sent.push(at)) {
    for (const window of windows) {
      at = Math.max(at, nextSlot(window.times.slice(-window.limit), window.limit, at));
    }
    for (const { times } of windows) times.push(at);
  }
  return sent;
}
