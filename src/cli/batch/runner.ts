import { DEFAULT_PATIENCE_MS } from "../../client/watch/give-up-policy.js";
import type { Context } from "../context.js";
import { ClosedPipe, EXIT_CODES, Interrupted } from "../errors.js";
import { failureOf } from "../failure.js";
import { OnDone, type OnDoneOptions } from "../requests/on-done.js";
import { Board } from "./board.js";
import type { BatchFolder } from "./folder.js";
import { outlook, typicalMs } from "./forecast.js";
import { Halt } from "./halt.js";
import { Keeper } from "./keeper.js";
import type { Pacer } from "./pacer.js";
import type { RowState } from "./plan.js";
import { Report } from "./report.js";
import { completeResults } from "./results.js";
import { RowWatcher } from "./row-watcher.js";
import { Sender } from "./sender.js";

export interface RunnerOptions extends OnDoneOptions {
  maxFailures?: number;
  /** Milliseconds for each row; 0 or absent for none. */
  timeout?: number;
  queueTimeout?: number;
  interval?: number;
  patience?: number;
}

/** What a batch works on: an output folder that is its own, and what is to be done with each row. */
export interface Job {
  states: readonly RowState[];
  folder: BatchFolder;
  pacer: Pacer;
  /** The command that goes on where this one ends. */
  again: string;
}

/**
 * Runs a batch: one create at a time, watching and fetching beside it. Returns the exit code; throws Interrupted
 * with the command that goes on.
 */
export async function runBatch(ctx: Context, job: Job, options: RunnerOptions): Promise<number> {
  const { states, folder, pacer, again } = job;
  const { origin } = ctx.client;
  const halt = new Halt(ctx.signal, options.maxFailures);
  const board = new Board(states, (failures) => halt.failed(failures));
  const usual = typicalMs(ctx, origin);
  const report = new Report(ctx, board, () => outlook(board.counts, pacer, usual, ctx.host.clock.now()));
  const done = OnDone.of(ctx, options);
  const { timeout, queueTimeout, interval, patience = DEFAULT_PATIENCE_MS } = options;
  const parts = { ctx, board, folder, report, patience, signal: halt.batch };
  const keeper = new Keeper({ ...parts, done, onTrouble: (error) => halt.stopSending(error) });
  const watcher = new RowWatcher({ ...parts, keeper, origin, timeout, queueTimeout, interval });
  const onSent = (state: RowState) => watcher.add(state);
  const sender = new Sender({ ...parts, signal: halt.sending, pacer, onSent });
  const send = () =>
    sender
      .run()
      .catch((error) => halt.say(error, report, again))
      .finally(() => watcher.close());
  await report.begin();
  try {
    completeResults(folder, states);
    for (const state of states) {
      if (state.owed) keeper.tell(state);
      if (state.standing === "running") watcher.add(state);
    }
    await halt.all([send(), watcher.run(), keeper.run()]);
    const code = board.exitCode(halt.exitCode);
    const exitCode = done ? await done.settle(code) : code;
    await report.summary(exitCode);
    return exitCode;
  } catch (error) {
    if (error instanceof ClosedPipe) return EXIT_CODES.NOT_FINISHED;
    if (error instanceof Interrupted) {
      error.resume = `what runs goes on; go on with: ${again}`;
      await report.summary(failureOf(error).exit_code).catch(() => {});
    }
    throw error;
  } finally {
    report.end();
  }
}
