import type { LocalError } from "../../../core/files/local-error.js";
import type { ResearchError } from "../../calls/errors.js";
import type { Account } from "../account.js";
import type { FollowEvent } from "../follow.js";
import type { Result } from "../results.js";
import type { BatchLane } from "./create-pacer.js";
import type { RowCheck, RowError } from "./journal.js";
import type { OutputFolder } from "./output-folder.js";
import type { BatchProgress, RowState } from "./plan.js";

/** The work of a batch: an output folder that this process has locked, and the plan for each row. */
export interface BatchJob {
  states: readonly RowState[];
  folder: OutputFolder;
  /** The accounts of all rows, at least one. */
  lanes: readonly BatchLane[];
}

export interface BatchRunOptions {
  /** Aborted when the caller is interrupted. */
  signal: AbortSignal;
  /** Converts an error to the form that is kept with its row. */
  describe: (error: unknown) => RowError;
  /** Formats a result for its file. */
  format: (result: Result) => string;
  /** Says how a result breaks the schema of its row; undefined if it fits, or the row has none. */
  check: (result: Result, state: RowState, signal: AbortSignal) => Promise<string | undefined>;
  /** Reads the sources of a result that was written (undefined: by an earlier command). Absent if none are read. */
  checkSources?: ((state: RowState, result: Result | undefined) => Promise<RowCheck | undefined>) | undefined;
  /** Returns the caller's data about a result, which the journal keeps. */
  noteOf?: ((result: Result) => unknown) | undefined;
  /** Whether a row fails at once if it reaches a limit of its account, instead of waiting. */
  failsAtLimits?: boolean | undefined;
  /** The number of failed rows after which no more creates are sent. */
  maxFailures?: number | undefined;
  /** For each row, in milliseconds; 0 or undefined for no limit. */
  timeout?: number | undefined;
  interval?: number | undefined;
  /** How long to wait for an unreachable service, in milliseconds; default 10 minutes. */
  patience?: number | undefined;
}

/** The state that the loops of a batch share. */
export interface BatchContext extends BatchJob, BatchRunOptions {
  /** Of the first account: the clock is the same for all. */
  account: Account;
  progress: BatchProgress;
  patience: number;
  /** Takes events as they happen. */
  emit: (event: BatchRunEvent) => void;
  /** Aborted when the batch ends early, by an interruption or a failure. */
  end: AbortSignal;
  /** Aborted, with the reason, when no more creates are to be sent. One that is under way is not aborted by it. */
  noMoreCreates: AbortController;
}

/** Now, in ISO 8601. */
export function formatNow({ account: { clock } }: Pick<BatchContext, "account">): string {
  return new Date(clock.now()).toISOString();
}

/** What happens in a batch, in the order it happens. Times are epoch milliseconds, waits milliseconds. */
export type BatchRunEvent =
  /** The state of a row changed; `final` if it will not change again. A row with an error is done for this command. */
  | { kind: "row"; state: RowState; final: boolean }
  /** A create failed, or a row was given up, or its result was not kept, while the research goes on at the service. A `row` event follows. */
  | { kind: "row-failed"; state: RowState; error: unknown }
  /** The request exists, and neither the journal nor the history may have its id. */
  | { kind: "not-saved"; state: RowState; error: LocalError }
  /** The result was kept, but does not fit the row's schema. */
  | { kind: "schema-mismatch"; state: RowState; message: string }
  /** No create is sent to `account` before `until`. */
  | { kind: "waiting-for-quota"; until: number; account: Account }
  /** Creates, polls or fetches fail, and are repeated. `state`: the row whose result is fetched again. */
  | { kind: "trouble"; activity: "create" | "poll" | "fetch"; error: ResearchError; state?: RowState }
  | { kind: "recovered" }
  | Extract<FollowEvent, { kind: "asked-to-wait" | "unchanged" | "stuck" | "not-observed" }>
  /** No more creates are sent to this account, because too many rows failed or because of `error`. Running rows are watched to their end. */
  | {
      kind: "creates-stopped";
      reason: { failures: number } | { error: unknown };
      account?: Account | undefined;
    };
