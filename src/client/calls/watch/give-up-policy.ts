import type { Unsuccessful } from "../classify-response.js";
import { type RefusedError, type ResearchError, UnreachableError } from "../errors.js";
import { FAULTS, limitPollWait, NEW_REQUEST_MS, retryDelay, TRIES } from "../failure-policy.js";
import type { Watched } from "./watched.js";

/** Milliseconds without a successful poll after which an id is given up (contract §3, `--patience`). */
export const DEFAULT_PATIENCE_MS = 600_000;

export interface Circumstances {
  /** Whether the service has answered this command once. */
  answered: boolean;
  /** Milliseconds without a successful poll after which an id is given up. */
  patience: number;
  /** Monotonic milliseconds. */
  now: number;
  /** Epoch milliseconds. */
  wallNow: number;
}

/** What follows from a failed poll: the id is given up, or polled after `waitMs`, of which the service asked for `askedMs`. */
export type AfterFailure = { end: ResearchError } | { waitMs: number; askedMs: number };

/** What follows from a failed poll that is counted. `intervalMs`: between two polls; `random`: in [0, 1). */
export function decideAfterFailure(
  watched: Watched,
  result: Unsuccessful,
  circumstances: Circumstances,
  intervalMs: number,
  random: number,
): AfterFailure {
  const end = createFinalError(watched, result, circumstances);
  if (end) return { end };
  const askedMs = limitPollWait((result.error.retryAfter ?? 0) * 1_000);
  // The first few come like any retry, but never sooner than the watch's interval.
  const pause = Math.max(intervalMs, retryDelay(watched.failures, undefined, random) ?? LATER_MS);
  // Always poll once more when patience ends.
  const { patience, now } = circumstances;
  const patienceEnds = Math.max(watched.quietSince + askedMs + patience - now, 1);
  return { askedMs, waitMs: Math.max(askedMs, Math.min(pause, patienceEnds)) };
}

/** The error to give an id up with, or undefined to poll on. */
function createFinalError(
  watched: Watched,
  result: Unsuccessful,
  c: Circumstances,
): ResearchError | undefined {
  const { error } = result;
  // A poll that started before is not the last one: the process may have been suspended since.
  const outOfPatience = watched.startedAt - watched.quietSince >= c.patience;
  if (result.kind === "refused") {
    const { kind, enveloped } = result.error;
    if (kind === "not-found" && enveloped) {
      const isNew =
        watched.recordedAt !== undefined && Math.abs(c.wallNow - watched.recordedAt) < NEW_REQUEST_MS;
      return isNew && !outOfPatience ? undefined : error;
    }
    const isShownLater = kind === "withheld" && watched.recordedAt !== undefined;
    if (!isShownLater && !isTemporary(result.error, c.answered)) return error;
    if (!outOfPatience) return undefined;
    // Refusals for so long are an outage, whatever the last one of them was.
    return new UnreachableError("UNREACHABLE", `no poll has succeeded for too long: ${error.message}`, error);
  }
  const { watch } = FAULTS[result.fault];
  if (watch === "answered" && !c.answered) return error;
  if (watch === "first" && !c.answered && watched.polls === 1) return error;
  // An id that is not in the history, at a service that never answered: four tries tell as much as ten minutes.
  if (!c.answered && watched.recordedAt === undefined && watched.failures >= TRIES) return error;
  return outOfPatience ? error : undefined;
}

/** Returns whether a refusal says something about now and not about the request. */
function isTemporary({ kind, enveloped, httpStatus }: RefusedError, answered: boolean): boolean {
  if (kind === "rate-limited" || kind === "no-credit") return true;
  // A 404 page or a 413 from something in between: a wrong base URL at first, an outage later.
  const byIntermediary = !enveloped && kind !== "unauthenticated";
  const tooLarge = httpStatus === 413 || httpStatus === 414 || httpStatus === 431;
  return (byIntermediary || tooLarge) && answered;
}

/** Milliseconds between two polls, at least, once an outage outlasts the retries. */
const LATER_MS = 5_000;
