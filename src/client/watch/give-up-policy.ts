import type { Unsuccessful } from "../classify-response.js";
import { type RefusedError, type ResearchError, UnreachableError } from "../errors.js";
import { FAULTS } from "../failure-policy.js";
import { retryDelay, TRIES } from "../retry-delay.js";
import type { Watched } from "./types.js";

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

/** What follows from a failed poll: the end, or another one after `waitMs`, of which the service asked for `askedMs`. */
export type AfterFailure = { end: ResearchError } | { waitMs: number; askedMs: number };

/**
 * Judges a failed poll that `watched.failures` counts already. `paceMs` is the wait between two polls of this
 * id, `random` in [0, 1). Pure.
 */
export function afterFailure(
  watched: Watched,
  result: Unsuccessful,
  circumstances: Circumstances,
  paceMs: number,
  random: number,
): AfterFailure {
  const end = endOf(watched, result, circumstances);
  if (end) return { end };
  const askedMs = (result.error.retryAfter ?? 0) * 1_000;
  const pause = pauseAfterFailure(watched.failures, paceMs, random);
  // The last look before patience ends is worth more than an even pace.
  const { patience, now } = circumstances;
  const patienceEnds = Math.max(watched.quietSince + askedMs + patience - now, 1);
  return { askedMs, waitMs: Math.max(askedMs, Math.min(pause, patienceEnds)) };
}

/** What an id ends with where a failed poll is its last one; else undefined. */
function endOf(watched: Watched, result: Unsuccessful, c: Circumstances): ResearchError | undefined {
  const { error } = result;
  const outOfPatience = c.now - watched.quietSince >= c.patience;
  if (result.kind === "refused") {
    const { kind, enveloped } = result.error;
    if (kind === "not-found" && enveloped) {
      const newborn =
        watched.recordedAt !== undefined && Math.abs(c.wallNow - watched.recordedAt) < NEWBORN_MS;
      return newborn && !outOfPatience ? undefined : error;
    }
    if (!mayPass(result.error, c.answered)) return error;
    return outOfPatience ? silence(error) : undefined;
  }
  const { watch } = FAULTS[result.fault];
  if (watch === "answered" && !c.answered) return error;
  if (watch === "first" && !c.answered && watched.polls === 1) return error;
  // An id that nobody here knows, at a service that never answered: four tries tell as much as ten minutes.
  if (!c.answered && watched.recordedAt === undefined && watched.failures >= TRIES) return error;
  return outOfPatience ? error : undefined;
}

/** Whether a refusal says something about now and not about the request. */
function mayPass({ kind, enveloped, httpStatus }: RefusedError, answered: boolean): boolean {
  if (kind === "rate-limited") return true;
  // A 404 page or a 413 from something in between: a wrong base URL at first, an outage later.
  const byIntermediary = !enveloped && kind !== "unauthenticated";
  const tooLarge = httpStatus === 413 || httpStatus === 414 || httpStatus === 431;
  return (byIntermediary || tooLarge) && answered;
}

/** Nothing but refusals for so long is an outage, whatever the last one of them was. */
function silence(error: ResearchError): UnreachableError {
  return new UnreachableError("UNREACHABLE", `no poll has succeeded for too long: ${error.message}`, error);
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
