import type { Ports } from "../ports.js";
import type { Result } from "../results.js";
import type { CreatePacer } from "./create-pacer.js";
import type { BatchEvent } from "./events.js";
import type { RowError } from "./journal.js";
import type { OutputFolder } from "./output-folder.js";
import type { BatchProgress, RowState } from "./plan.js";

/** What a batch works on: an output folder that this process holds, and what is to be done with each row. */
export interface BatchJob {
  states: readonly RowState[];
  folder: OutputFolder;
  pacer: CreatePacer;
}

export interface BatchRunOptions {
  /** Aborted when the caller is interrupted. */
  signal: AbortSignal;
  /** An error in the form in which it is kept with its row. */
  describe: (error: unknown) => RowError;
  /** The text of a result's file. */
  format: (result: Result) => string;
  /** Says how a result breaks the schema of its row; undefined if it fits, or the row has none. */
  check: (result: Result, state: RowState, signal: AbortSignal) => Promise<string | undefined>;
  /** Whether the caller announces the end of each row and confirms it with `announced`. */
  announces: boolean;
  /** No more creates are sent once so many rows failed. */
  maxFailures?: number | undefined;
  /** For each row, in milliseconds; 0 or undefined for no limit. */
  timeout?: number | undefined;
  queueTimeout?: number | undefined;
  interval?: number | undefined;
  /** Milliseconds for which a service that cannot be reached is waited for; default 10 minutes. */
  patience?: number | undefined;
}

/** What the loops of a batch share. */
export interface BatchContext extends BatchJob, BatchRunOptions {
  ports: Ports;
  progress: BatchProgress;
  patience: number;
  /** Takes events as they happen. */
  emit: (event: BatchEvent) => void;
  /** Aborted when the batch ends early, by an interruption or a failure. */
  end: AbortSignal;
  /** Aborted, with the reason, when no more creates are to be sent. One that is under way is not aborted by it. */
  noMoreCreates: AbortController;
}

/** Now, in ISO 8601. */
export function dateOf({ ports: { clock } }: Pick<BatchContext, "ports">): string {
  return new Date(clock.now()).toISOString();
}
