import type { PollInterval } from "./watch-types.js";
import type { WatchedRequest } from "./watched-request.js";

/** The wait before the next poll as a share of the request's age; the end is then noticed about 2.5 % of the run late. */
const SHARE_OF_AGE = 1 / 20;
/** Minimum and maximum wait between two polls of an id, in milliseconds. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 30_000;
/** The share by which each wait varies to either side, so that polls of many ids drift apart. */
const JITTER = 0.05;

/** Computes the interval to use if the usual length of runs is unknown. */
export const computeAdaptiveInterval: PollInterval = (ageMs, random) =>
  addBoundedJitter(ageMs * SHARE_OF_AGE, random);

/** Computes an interval that notices the end within 5 % of the run, jitter included; a thousand waits take 0.7 % of a core (test/soak). */
export const computePatientInterval: PollInterval = (ageMs, random) =>
  addBoundedJitter(ageMs / 21, random, 120_000);

/** Minimum number of finished runs to learn an interval from. */
export const ENOUGH_RUNS = 30;
/** Shares from a simulation (`bench/polling.js`): ends are noticed about 2 % of the run late, with a fifth fewer polls. */
const SHARE_OF_MEDIAN = 0.015;
const SHARE_OF_LATE_AGE = 0.033;

/** Learns an interval from the durations (ms) of finished runs: a share of their median, then of the age. Undefined for too few runs. */
export function learnPollInterval(durationsMs: readonly number[]): PollInterval | undefined {
  const sorted = durationsMs.filter((duration) => duration > 0).sort((a, b) => a - b);
  if (sorted.length < ENOUGH_RUNS) return undefined;
  const early = SHARE_OF_MEDIAN * (sorted[sorted.length >> 1] ?? 0);
  return (ageMs, random) => addBoundedJitter(Math.max(early, SHARE_OF_LATE_AGE * ageMs), random);
}

/** Adds jitter to a wait and keeps it between the minimum and the maximum. */
export function addBoundedJitter(waitMs: number, random: number, longestMs = LONGEST_MS): number {
  const wait = Math.min(Math.max(waitMs, SHORTEST_MS), longestMs);
  return Math.min(Math.max(wait * (1 - JITTER + 2 * JITTER * random), SHORTEST_MS), longestMs);
}

/**
 * Returns the age of a request in milliseconds, or the time since its watch began if the age is unknown. `wallNow`: epoch
 * ms. The service's clock may be hours behind, so a request never counts as older than this machine's record of it.
 */
export function computeRequestAge(
  { createdAt, recordedAt = 0, since }: WatchedRequest,
  now: number,
  wallNow: number,
): number {
  const watchedFor = now - since;
  return createdAt === undefined
    ? watchedFor
    : Math.max(watchedFor, wallNow - Math.max(createdAt, recordedAt));
}
