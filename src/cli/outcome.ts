import { EXIT_CODES } from "../machine/errors.js";
import { failureOf } from "../machine/failure.js";
import { isFinal, type Status } from "../protocol/conversation.js";
import type { Outcome } from "../workflows/progress.js";

/** The exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function exitCodeOf(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/**
 * The exit code of a request that was followed. `created`: whether this command created it; then nothing that ends
 * the wait is an error (contract §1.5), since a script that sees one would create it again.
 */
export function exitCodeOfOutcome(outcome: Outcome, { created = false } = {}): number {
  if (outcome.kind === "final") return exitCodeOf(outcome.status ?? "");
  if (outcome.kind === "given-up" && !created) return failureOf(outcome.error).exit_code;
  return EXIT_CODES.NOT_FINISHED;
}
