import { FAULTS } from "./faults.js";
import type { NoData } from "./judge.js";
import { retryDelay, TRIES } from "./retry.js";
import type { Watched } from "./watch-types.js";

/** Milliseconds without a successful poll that are borne unless a caller says otherwise. */
export const DEFAULT_PATIENCE_MS = 600_000;

/** A status page may lag behind the create by this long, in milliseconds. */
const NEWBORN_MS = 60_000;

export interface Circumstances {
  /** Whether the service has answered this command once. */
  answered: boolean;
  /** Milliseconds without a successful poll that are borne. */
  patience: number;
  /** Monotonic milliseconds. */
  now: number;
  /** Epoch milliseconds. */
  wallNow: number;
}

/** What follows from a failed poll: no other one, or one after `waitMs`, of which the service asked for `askedMs`. */
export type AfterFailure = "give up" | { waitMs: number; askedMs: number };

/**
 * Judges a failed poll that `watched.failures` counts already. `paceMs` is the wait between two polls of this
 * id, `random` in [0, 1). Pure.
 */
export function afterFailure(
  watched: Watched,
  verdict: NoData,
  circumstances: Circumstances,
  paceMs: number,
  random: number,
): AfterFailure {
  if (givesUp(watched, verdict, circumstances)) return "give up";
  const askedMs = (verdict.error.retryAfter ?? 0) * 1_000;
  const pause = pauseAfterFailure(watched.failures, paceMs, random);
  // The last look before patience ends is worth more than an even pace.
  const { patience, now } = circumstances;
  const patienceEnds = Math.max(watched.quietSince + askedMs + patience - now, 1);
  return { askedMs, waitMs: Math.max(askedMs, Math.min(pause, patienceEnds)) };
}

/** Whether a failed poll is the last one of its id. */
function givesUp(watched: Watched, verdict: NoData, c: Circumstances): boolean {
  if (verdict.kind === "refused") {
    const { kind, enveloped, httpStatus } = verdict.error;
    if (kind === "rate-limited") return outOfPatience(watched, c);
    if (kind === "not-found" && enveloped) {
      const newborn =
        watched.recordedAt !== undefined && Math.abs(c.wallNow - watched.recordedAt) < NEWBORN_MS;
      return newborn ? outOfPatience(watched, c) : true;
    }
    // A 404 page or a 413 from something in between: a wrong base URL at first, an outage later.
    const byIntermediary = !enveloped && kind !== "unauthenticated";
    const tooLarge = httpStatus === 413 || httpStatus === 414 || httpStatus === 431;
    return (byIntermediary || tooLarge) && c.answered ? outOfPatience(watched, c) : true;
  }
  const { watch } = FAULTS[verdict.fault];
  if (watch === "answered" && !c.answered) return true;
  if (watch === "first" && !c.answered && watched.polls === 1) return true;
  // An id that nobody here knows, at a service that never answered: four tries tell as much as ten minutes.
  if (!c.answered && watched.recordedAt === undefined && watched.failures >= TRIES) return true;
  return outOfPatience(watched, c);
}

function outOfPatience(watched: Watched, c: Circumstances): boolean {
  return c.now - watched.quietSince >= c.patience;
}

/**
 * Milliseconds until the next poll after `failures` failed ones in a row: the first few come as quickly as any
 * retry, then at the pace of the watch. Never quicker than that pace.
 */
function pauseAfterFailure(failures: number, pace: number, random: number): number {
  return Math.max(pace, retryDelay(failures, undefined, random) ?? LATER_MS);
}

/** An outage that outlasts the retries is looked at this often at most. */
const LATER_MS = 5_000;
