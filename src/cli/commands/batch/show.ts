import { join } from "node:path";
import { ROW_FORMS } from "../../../machine/batch.js";
import { EXIT_CODES } from "../../../machine/errors.js";
import { Batch, type BatchJob } from "../../../workflows/batch/batch.js";
import type { RowState } from "../../../workflows/batch/plan.js";
import type { Ports } from "../../../workflows/ports.js";
import { ClosedPipe, commandFailure, Interrupted, worstOf } from "../../errors.js";
import { usualLength } from "../../requests/durations.js";
import { type NotifyOptions, OnDone, type OnDoneOptions } from "../../requests/on-done.js";
import { notify } from "../../terminal/attention.js";
import type { Terminal } from "../../terminal/terminal.js";
import { BatchRenderer } from "./render.js";

export interface ShowOptions extends OnDoneOptions, NotifyOptions {
  maxFailures?: number;
  /** Milliseconds for each row; 0 or absent for no limit. */
  timeout?: number;
  queueTimeout?: number;
  interval?: number;
  patience?: number;
}

/**
 * Runs a batch and shows what happens. Returns the exit code; throws Interrupted with `resume`, the command that goes
 * on.
 */
export async function showBatch(
  terminal: Terminal,
  ports: Ports,
  job: BatchJob,
  { onDone, notify: isNotified, ...options }: ShowOptions,
  resume: string,
): Promise<number> {
  const done = OnDone.of(terminal, { ...(onDone !== undefined && { onDone }) });
  const batch = new Batch(ports, job, {
    ...options,
    signal: terminal.signal,
    ...ROW_FORMS,
    announces: done !== undefined,
  });
  const announce = (state: RowState) => {
    const { requestId = "", status, file } = state;
    const path = file && join(job.folder.path, file);
    done?.run({ requestId, status: status ?? "", file: path }, () => batch.announced(state));
  };
  const renderer = new BatchRenderer({
    ...{ batch, reporter: terminal.reporter, host: terminal.host, resume },
    usual: usualLength(ports),
  });
  await renderer.begin();
  try {
    job.states.filter((state) => state.announce === "pending").forEach(announce);
    for await (const event of batch.run()) {
      if (event.kind === "row" && event.final && event.state.announce === "pending") announce(event.state);
      await renderer.show(event);
    }
    const code = worstOf([...batch.progress.states.map(exitCodeOf), renderer.exitCode]);
    const exitCode = done ? await done.settle(code) : code;
    await renderer.summary(exitCode);
    return exitCode;
  } catch (error) {
    if (error instanceof ClosedPipe) return EXIT_CODES.NOT_FINISHED;
    if (error instanceof Interrupted) {
      error.resume = `what runs goes on; go on with: ${resume}`;
      await renderer.summary(commandFailure(error).exit_code).catch(() => {});
    }
    throw error;
  } finally {
    renderer.end();
    const { counts, states } = batch.progress;
    const open = counts.running + counts.waiting;
    if (isNotified) await notify(terminal, `${states.length - open} of ${states.length} rows have ended`);
  }
}

/** What a row alone means for the exit code. */
function exitCodeOf({ standing, error }: RowState): number {
  switch (standing) {
    case "done":
      return 0;
    case "failed":
      return EXIT_CODES.RESEARCH_FAILED;
    case "stopped":
      return EXIT_CODES.RESEARCH_STOPPED;
    case "unknown":
      return EXIT_CODES.OUTCOME_UNKNOWN;
    default:
      return error?.exit_code ?? EXIT_CODES.NOT_FINISHED;
  }
}
