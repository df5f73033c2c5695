import type { Clock } from "../../../../clock.js";
import { ResearchFailure } from "../../researcher.js";
import type { Budget } from "./budget.js";

export interface StoringOptions {
  budget: Budget;
  clock: Pick<Clock, "sleep">;
  notice: (line: string) => void;
  signal: AbortSignal;
}

/** Between two tries to reach a store that fails, ms. */
const RETRY_MS = 5_000;

/**
 * Reads or writes exchanges, and tries until that succeeds: a full disk or a lost database must not cost what was
 * paid for. Throws a ResearchFailure when the time of the conversation is over, or `signal.reason`.
 */
export async function untilStored<T>(
  work: () => Promise<T>,
  { budget, clock, notice, signal }: StoringOptions,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const why = `the exchanges with the model cannot be stored: ${error instanceof Error ? error.message : error}`;
      if (budget.left.ms <= RETRY_MS) throw new ResearchFailure(`There is no result: ${why}.`);
      notice(why);
    }
    await clock.sleep(RETRY_MS, signal);
  }
}
