import type { Unsuccessful } from "../classify-response.js";
import { type RefusedError, type ResearchError, UnreachableError } from "../errors.js";
import { capPollWait, computeRetryDelay, FAULTS, NEW_REQUEST_MS, TRIES } from "../failure-policy.js";
import type { WatchedRequest } from "./watched-request.js";

/** How long to poll an id without success before giving it up, in milliseconds (contract §3, `--patience`). */
export const DEFAULT_PATIENCE_MS = 600_000;

export interface PollCircumstances {
  /** Whether the service has answered this command before. */
  answered: boolean;
  /** How long to poll an id without success before giving it up, in milliseconds. */
  patience: number;
  /** Monotonic milliseconds. */
  now: number;
  /** Epoch milliseconds. */
  wallNow: number;
}

/** What to do after a failed poll: give up the id, or poll again after `waitMs`. `askedMs`: the wait that the service asked for. */
export type AfterFailedPoll = { end: ResearchError } | { waitMs: number; askedMs: number };

/** Decides what to do after a failed poll, which `watched.failures` already counts. `intervalMs`: the usual wait; `random`: in [0, 1). */
export function decideAfterFailedPoll(
  watched: WatchedRequest,
  result: Unsuccessful,
  circumstances: PollCircumstances,
  intervalMs: number,
  random: number,
): AfterFailedPoll {
  const end = createGiveUpError(watched, result, circumstances);
  if (end) return { end };
  const askedMs = capPollWait((result.error.retryAfter ?? 0) * 1_000);
  // The first failures wait as long as any retry does, but at least the interval of the watch.
  const pause = Math.max(intervalMs, computeRetryDelay(watched.failures, undefined, random) ?? LATER_MS);
  // Poll once more at the moment at which patience ends.
  const { patience, now } = circumstances;
  const patienceEnds = Math.max(watched.quietSince + askedMs + patience - now, 1);
  return { askedMs, waitMs: Math.max(askedMs, Math.min(pause, patienceEnds)) };
}

/** Returns the error with which to give up the id; undefined to continue polling. */
function createGiveUpError(
  watched: WatchedRequest,
  result: Unsuccessful,
  c: PollCircumstances,
): ResearchError | undefined {
  const { error } = result;
  // Count until the start of the poll instead of until now, because the process may have been suspended since then.
  const outOfPatience = watched.startedAt - watched.quietSince >= c.patience;
  if (result.kind === "refused") {
    const { kind, enveloped } = result.error;
    if (kind === "not-found" && enveloped) {
      const isNew =
        watched.recordedAt !== undefined && Math.abs(c.wallNow - watched.recordedAt) < NEW_REQUEST_MS;
      return isNew && !outOfPatience ? undefined : error;
    }
    const isShownLater = kind === "withheld" && watched.recordedAt !== undefined;
    if (!isShownLater && !isTemporaryRefusal(result.error, c.answered)) return error;
    if (!outOfPatience) return undefined;
    // Refusals for so long mean an outage, whatever the last refusal was.
    return new UnreachableError("UNREACHABLE", `no poll has succeeded for too long: ${error.message}`, error);
  }
  const { watch } = FAULTS[result.fault];
  if (watch === "answered" && !c.answered) return error;
  if (watch === "first" && !c.answered && watched.polls === 1) return error;
  // If the id is not in the history and the service never answered, ten more minutes would tell nothing new.
  if (!c.answered && watched.recordedAt === undefined && watched.failures >= TRIES) return error;
  return outOfPatience ? error : undefined;
}

/** Returns whether a refusal may end by itself, because it is not about this request. */
function isTemporaryRefusal({ kind, enveloped, httpStatus }: RefusedError, answered: boolean): boolean {
  if (kind === "rate-limited" || kind === "no-credit") return true;
  // From an intermediary, a 404 page or a 413 means a wrong base URL if the service has never answered, and an outage if it has.
  const byIntermediary = !enveloped && kind !== "unauthenticated";
  const tooLarge = httpStatus === 413 || httpStatus === 414 || httpStatus === 431;
  return (byIntermediary || tooLarge) && answered;
}

/** Minimum wait between two polls after an outage has outlasted the usual retries, in milliseconds. */
const LATER_MS = 5_000;
