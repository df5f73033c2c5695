import type { StatusData } from "../../calls/research-client.js";
import { sumCosts } from "../../store/history/history-records.js";
import type { KnownRow, RowFacts } from "./batch-journal.js";
import { type BatchRow, buildFileStem } from "./batch-row.js";
import type { BatchLane } from "./create-pacer.js";

/** The progress of a row. A `waiting` row is still to be sent; an `unknown` one may have been created, and is not sent again. */
export type RowStanding = "waiting" | "running" | "done" | "failed" | "refused" | "stopped" | "unknown";

/** A row and its state while the batch runs. */
export interface RowState extends RowFacts {
  row: BatchRow;
  /** The account to which the row is or was sent; undefined if that account is no longer set up. */
  lane?: BatchLane | undefined;
  standing: RowStanding;
  /** The last known state of the request; null before the first answer. */
  status: string | null;
  /** The answer to the row's create call, if that shows the end. */
  end?: StatusData | undefined;
}

export interface PlanOptions {
  retryFailed?: boolean;
  /** Whether to send a row again whose result was cut short. */
  retryPartial?: boolean;
  resendUnknown?: boolean;
  /** Whether to send a row again that was refused, so that nothing was created for it. */
  retryRefused?: boolean;
}

/** Plans each row. Fetches the result of a COMPLETED row again if its file is missing (`hasFile`). */
export function planRows(
  rows: readonly BatchRow[],
  knownRows: ReadonlyMap<string, KnownRow>,
  options: PlanOptions,
  hasFile: (name: string) => boolean,
  findLane: (row: BatchRow) => BatchLane | undefined = () => undefined,
): RowState[] {
  const stems = new Set(Array.from(knownRows.values(), ({ stem }) => foldCaseAndUnicode(stem)));
  return rows.map((row) => {
    const before = knownRows.get(row.id);
    const standing = before?.digest === row.digest ? decideRowStanding(before, options, hasFile) : "waiting";
    const stem = before?.stem ?? chooseFreeFileStem(row, stems);
    stems.add(foldCaseAndUnicode(stem));
    const lane = findLane(row);
    if (!before || standing === "waiting") return { row, lane, standing, stem, status: null };
    const { key: _, digest: __, stage, status = null, ...facts } = before;
    const isRunning = standing === "running";
    return {
      ...{ ...facts, row, lane, standing, status: isRunning && stage === "ended" ? null : status },
      file: isRunning ? undefined : facts.file,
    };
  });
}

function decideRowStanding(
  row: KnownRow,
  options: PlanOptions,
  hasFile: (name: string) => boolean,
): RowStanding {
  const retry = options.retryFailed ? "waiting" : undefined;
  switch (row.stage) {
    case "free":
      return "waiting";
    case "open":
      return options.resendUnknown ? "waiting" : "unknown";
    case "created":
      return "running";
    case "refused":
      return options.retryRefused ? "waiting" : (retry ?? "refused");
    case "ended":
      if (row.status === "COMPLETED") return row.file && !hasFile(row.file) ? "running" : "done";
      if (row.status === "STOPPED") return "stopped";
      return (row.cutShort ? options.retryPartial && "waiting" : retry) || "failed";
  }
}

/** Returns the file name of a row: its key or line. An earlier row may have the same name; then adds a part of the digest. */
function chooseFreeFileStem(row: BatchRow, taken: ReadonlySet<string>): string {
  const stem = row.key === undefined ? `line-${row.line}` : buildFileStem(row.key);
  return taken.has(foldCaseAndUnicode(stem)) ? `${stem}-${row.digest.slice(0, 8)}` : stem;
}

/** Folds differences that some file systems ignore in names: case and Unicode normalization. */
function foldCaseAndUnicode(stem: string): string {
  return stem.normalize("NFC").toLowerCase();
}

/** Lists rows whose key was sent earlier with a different body. A request with the earlier body may exist. */
export function listChangedRows(
  rows: readonly BatchRow[],
  knownRows: ReadonlyMap<string, KnownRow>,
): BatchRow[] {
  return rows.filter((row) => {
    const before = knownRows.get(row.id);
    if (!before || before.digest === row.digest) return false;
    // Nothing was created for a refused row, so a corrected prompt under the same key is a new attempt.
    return before.stage !== "free" && before.stage !== "refused";
  });
}

/** Lists the rows to be sent whose result would overwrite a `foreign` file, with the name of that file. */
export function listOccupiedFiles(
  states: readonly RowState[],
  foreign: ReadonlySet<string>,
): { file: string; row: BatchRow }[] {
  return states.flatMap(({ stem, standing, row }) => {
    if (standing !== "waiting") return [];
    const file = [`${stem}.md`, `${stem}.json`].find((name) => foreign.has(name));
    return file ? [{ file, row }] : [];
  });
}

/** Returns the state of a row in one word, even if there is no request. */
export function chooseStateWord({ standing, status }: RowState): string {
  if (standing === "refused") return "REFUSED";
  if (standing === "unknown") return "UNKNOWN";
  return status ?? "WAITING";
}

/** How many rows have each standing. */
export type StandingCounts = Readonly<Record<RowStanding, number>>;

/** All rows of a batch, with counts of their standings. */
export class BatchProgress {
  readonly #counts: Record<RowStanding, number> = {
    ...{ waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 },
  };
  #failures = 0;

  constructor(readonly states: readonly RowState[]) {
    for (const { standing } of states) this.#counts[standing]++;
  }

  get counts(): StandingCounts {
    return this.#counts;
  }

  /** The cost of all rows, as far as providers reported it; undefined if no row has a cost. */
  get costDollars(): number | undefined {
    return sumCosts(this.states.flatMap(({ costDollars }) => costDollars ?? []));
  }

  /** Number of rows that became failed, refused or unknown since this object was created. */
  get failures(): number {
    return this.#failures;
  }

  /** Changes the state of a row, and the counts. */
  update(state: RowState, change: Partial<Omit<RowState, "row" | "stem">>): void {
    const before = state.standing;
    this.#counts[before]--;
    Object.assign(state, change);
    this.#counts[state.standing]++;
    const hasFailed = ["failed", "refused", "unknown"].includes(state.standing);
    if (hasFailed && state.standing !== before) this.#failures++;
  }
}
