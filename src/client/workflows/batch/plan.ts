import type { StatusData } from "../../calls/client.js";
import { sumOf } from "../../store/history/records.js";
import type { BatchLane } from "./create-pacer.js";
import type { KnownRow, RowFacts } from "./journal.js";
import { buildFileStem, type Row } from "./row.js";

/** Where a row stands. `waiting` is still to be sent; `unknown` may have been created, and is not sent again. */
export type Standing = "waiting" | "running" | "done" | "failed" | "refused" | "stopped" | "unknown";

/** A row and its state while the batch runs. */
export interface RowState extends RowFacts {
  row: Row;
  /** The account that it is sent to or that was asked for it; undefined if that is not set up any more. */
  lane?: BatchLane | undefined;
  standing: Standing;
  /** The last state seen. */
  status: string | null;
  /** The answer to its create, if that showed the end. */
  end?: StatusData | undefined;
}

export interface PlanOptions {
  retryFailed?: boolean;
  /** Whether a row whose result was cut short is sent again. */
  retryPartial?: boolean;
  resendUnknown?: boolean;
  /** Whether a row that was refused is sent again: nothing was created for it. */
  retryRefused?: boolean;
}

/** Plans each row. A COMPLETED row whose file is missing (`hasFile`) is fetched again. */
export function planRows(
  rows: readonly Row[],
  knownRows: ReadonlyMap<string, KnownRow>,
  options: PlanOptions,
  hasFile: (name: string) => boolean,
  findLane: (row: Row) => BatchLane | undefined = () => undefined,
): RowState[] {
  const stems = new Set(Array.from(knownRows.values(), ({ stem }) => foldCase(stem)));
  return rows.map((row) => {
    const before = knownRows.get(row.id);
    const standing = before?.digest === row.digest ? decideStanding(before, options, hasFile) : "waiting";
    const stem = before?.stem ?? findFreeStem(row, stems);
    stems.add(foldCase(stem));
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

function decideStanding(row: KnownRow, options: PlanOptions, hasFile: (name: string) => boolean): Standing {
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

/** The key, or the line. A line's name may be taken by the row that had that line in an earlier command. */
function findFreeStem(row: Row, taken: ReadonlySet<string>): string {
  const stem = row.key === undefined ? `line-${row.line}` : buildFileStem(row.key);
  return taken.has(foldCase(stem)) ? `${stem}-${row.digest.slice(0, 8)}` : stem;
}

/** Some file systems ignore case and Unicode normalisation in names. */
function foldCase(stem: string): string {
  return stem.normalize("NFC").toLowerCase();
}

/** Rows whose key was sent with another request body, which may exist. */
export function listChangedRows(rows: readonly Row[], knownRows: ReadonlyMap<string, KnownRow>): Row[] {
  return rows.filter((row) => {
    const before = knownRows.get(row.id);
    if (!before || before.digest === row.digest) return false;
    // Nothing was created for a refused row, so a corrected prompt under the same key is a new attempt.
    return before.stage !== "free" && before.stage !== "refused";
  });
}

/** Rows still to be sent whose result would overwrite a `foreign` file, with the name of that file. */
export function listOccupiedFiles(
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
export function chooseStateWord({ standing, status }: RowState): string {
  if (standing === "refused") return "REFUSED";
  if (standing === "unknown") return "UNKNOWN";
  return status ?? "WAITING";
}

/** The number of rows in each standing. */
export type Counts = Readonly<Record<Standing, number>>;

/** All rows of a batch with their standings. */
export class BatchProgress {
  readonly #counts: Record<Standing, number> = {
    ...{ waiting: 0, running: 0, done: 0, failed: 0, refused: 0, stopped: 0, unknown: 0 },
  };
  #failures = 0;

  constructor(readonly states: readonly RowState[]) {
    for (const { standing } of states) this.#counts[standing]++;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The cost of all rows, as far as the providers report it; undefined if no row has a cost. */
  get costDollars(): number | undefined {
    return sumOf(this.states.flatMap(({ costDollars }) => costDollars ?? []));
  }

  /** Rows that became failed, refused or unknown since this object was made. */
  get failures(): number {
    return this.#failures;
  }

  /** Updates the state of a row. */
  update(state: RowState, change: Partial<Omit<RowState, "row" | "stem">>): void {
    const before = state.standing;
    this.#counts[before]--;
    Object.assign(state, change);
    this.#counts[state.standing]++;
    const hasFailed = ["failed", "refused", "unknown"].includes(state.standing);
    if (hasFailed && state.standing !== before) this.#failures++;
  }
}
