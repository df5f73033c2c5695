import type { LocalError } from "../../../core/files/local-error.js";
import type { ResearchError } from "../../calls/errors.js";
import type { Account } from "../account.js";
import type { Result } from "../fetch-results.js";
import type { FollowEvent } from "../follow-requests.js";
import type { BatchFolder } from "./batch-folder.js";
import type { RowCheck, RowError } from "./batch-journal.js";
import type { BatchLane } from "./create-pacer.js";
import type { BatchProgress, RowState } from "./plan-rows.js";

/** The work of a batch: an output folder that this process has locked, and the state of each row. */
export interface BatchJob {
  states: readonly RowState[];
  folder: BatchFolder;
  /** The accounts of all rows; at least one. */
  lanes: readonly BatchLane[];
}

export interface BatchRunOptions {
  /** Aborts when the caller is interrupted. */
  signal: AbortSignal;
  /** Converts an error to the form in which the journal keeps it. */
  describe: (error: unknown) => RowError;
  /** Formats a result for the row's file. */
  format: (result: Result) => string;
  /** Describes how a result breaks the schema of its row; undefined if it fits, or the row has no schema. */
  check: (result: Result, state: RowState, signal: AbortSignal) => Promise<string | undefined>;
  /** Checks the sources of a written result; `result` is undefined if an earlier command wrote it. Absent if nothing is checked. */
  checkSources?: ((state: RowState, result: Result | undefined) => Promise<RowCheck | undefined>) | undefined;
  /** Returns data about a result that the journal keeps for the caller. */
  noteOf?: ((result: Result) => unknown) | undefined;
  /** Whether a row that reaches a limit of its account fails at once, instead of waiting. */
  failsAtLimits?: boolean | undefined;
  /** Number of failed rows after which no more create calls are sent. */
  maxFailures?: number | undefined;
  /** Timeout of each row in milliseconds; 0 or undefined for no limit. */
  timeout?: number | undefined;
  interval?: number | undefined;
  /** How long to wait for an unreachable service, in milliseconds; default: 10 minutes. */
  patience?: number | undefined;
}

/** What the loops of a batch share. */
export interface BatchContext extends BatchJob, BatchRunOptions {
  /** The first account; all accounts have its clock. */
  account: Account;
  progress: BatchProgress;
  patience: number;
  /** Adds an event to those that `BatchRunner.run` yields. */
  emit: (event: BatchRunEvent) => void;
  /** Aborts when the batch ends early, because of an interruption or a failure. */
  end: AbortSignal;
  /** Aborts, with the reason, when no more create calls may be sent. A create call that is under way goes on. */
  noMoreCreates: AbortController;
}

/** Returns the current time in ISO 8601. */
export function formatCurrentTime({ account: { clock } }: Pick<BatchContext, "account">): string {
  return new Date(clock.now()).toISOString();
}

/** Gives up a row for this command because of `error`. The research goes on at the service; the next command follows it again. */
export function giveUpRow({ progress, emit, describe }: BatchContext, state: RowState, error: unknown): void {
  progress.update(state, { error: describe(error) });
  emit({ kind: "row-failed", state, error });
  emit({ kind: "row", state, final: false });
}

/** An event of a batch. Times are epoch milliseconds, waits milliseconds. */
export type BatchRunEvent =
  /** The state of a row changed. `final`: it will not change again. A row with an error is not worked on again by this command. */
  | { kind: "row"; state: RowState; final: boolean }
  /** A create call failed, a row was given up, or its result could not be written; the research may go on. A `row` event follows. */
  | { kind: "row-failed"; state: RowState; error: unknown }
  /** The request exists, but its id may be neither in the journal nor in the history. */
  | { kind: "not-saved"; state: RowState; error: LocalError }
  /** The result was written, but does not fit the row's schema. */
  | { kind: "schema-mismatch"; state: RowState; message: string }
  /** No create call is sent to `account` until `until`. */
  | { kind: "waiting-for-quota"; until: number; account: Account }
  /** Create calls, polls or fetches fail and are repeated. `state`: the row whose result is fetched again. */
  | { kind: "trouble"; activity: "create" | "poll" | "fetch"; error: ResearchError; state?: RowState }
  | { kind: "recovered" }
  | Extract<FollowEvent, { kind: "asked-to-wait" | "unchanged" | "stuck" | "not-observed" }>
  /** No more create calls are sent (to `account`, if given), because of too many failed rows or `error`. Running rows are watched to their end. */
  | {
      kind: "creates-stopped";
      reason: { failures: number } | { error: unknown };
      account?: Account | undefined;
    };
