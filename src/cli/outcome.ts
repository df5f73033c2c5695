import { isFinal, type Status } from "../protocol/conversation.js";
import type { Seen } from "../store/history/records.js";
import type { Context } from "./context.js";
import { EXIT_CODES, worstOf } from "./errors.js";

/** How one id ended for this command. */
export interface Followed {
  requestId: string;
  status: Status | null;
  exitCode: number;
}

/** The exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function exitCodeOf(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/** The exit code of several followed ids. */
export function worstFollowed(followed: readonly Followed[]): number {
  return worstOf(followed.map(({ exitCode }) => exitCode));
}

/** Keeps a state in the history. What cannot be kept can be asked for again, so it stops nothing. */
export function observe(ctx: Context, entry: Seen | undefined, status: Status): void {
  if (!entry) return;
  try {
    ctx.history?.observe(entry, status);
    entry.status = status;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void ctx.reporter.notice("HISTORY_NOT_UPDATED", why);
  }
}
