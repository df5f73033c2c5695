import type { PollInterval } from "./types.js";
import type { Watched } from "./watched.js";

/** The wait before the next poll as a share of the request's age; the lag is then about 2.5 % of the run. */
const SHARE_OF_AGE = 1 / 20;
/** The shortest and longest wait of a watch, in milliseconds. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 30_000;
/** The share by which each wait varies to either side, so that polls of many ids drift apart. */
const JITTER = 0.05;

/** Computes the interval if the length of runs is unknown. */
export const computeAdaptiveInterval: PollInterval = (ageMs, random) =>
  boundWait(ageMs * SHARE_OF_AGE, random);

/** Computes an interval that sees the end within 5 % of the run, jitter included; a thousand waits take 0.7 % of a core (test/soak). */
export const computePatientInterval: PollInterval = (ageMs, random) => boundWait(ageMs / 21, random, 120_000);

/** The least number of finished runs to learn from. */
export const ENOUGH_RUNS = 30;
/** Shares from a simulation (`bench/polling.js`): a lag of about 2 % of the run with a fifth fewer polls. */
const SHARE_OF_MEDIAN = 0.015;
const SHARE_OF_LATE_AGE = 0.033;

/** Learns an interval from the durations (ms) of finished runs: a share of their median, later of the age. Undefined if there are too few. */
export function learnInterval(durationsMs: readonly number[]): PollInterval | undefined {
  const sorted = durationsMs.filter((duration) => duration > 0).sort((a, b) => a - b);
  if (sorted.length < ENOUGH_RUNS) return undefined;
  const early = SHARE_OF_MEDIAN * (sorted[sorted.length >> 1] ?? 0);
  return (ageMs, random) => boundWait(Math.max(early, SHARE_OF_LATE_AGE * ageMs), random);
}

/** Adds jitter to a wait and keeps it within the bounds. */
export function boundWait(waitMs: number, random: number, longestMs = LONGEST_MS): number {
  const wait = Math.min(Math.max(waitMs, SHORTEST_MS), longestMs);
  return Math.min(Math.max(wait * (1 - JITTER + 2 * JITTER * random), SHORTEST_MS), longestMs);
}

/**
 * Returns the age of a request in milliseconds, as far as it is known; `now` is monotonic, `wallNow` epoch milliseconds.
 * The service's clock may be hours behind, so a request never counts as older than this machine's record of it.
 */
export function computeAge(
  { createdAt, recordedAt = 0, since }: Watched,
  now: number,
  wallNow: number,
): number {
  const watchedFor = now - since;
  return createdAt === undefined
    ? watchedFor
    : Math.max(watchedFor, wallNow - Math.max(createdAt, recordedAt));
}
