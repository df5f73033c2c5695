import type { PollInterval } from "./types.js";
import type { Watched } from "./watched.js";

/** The next poll comes after this share of the age of the request: the lag is then about 2.5 % of the run. */
const SHARE_OF_AGE = 1 / 20;
/** No wait of a watch is shorter or longer than these, in milliseconds. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 30_000;
/** Spread of each wait to either side, so that polls of many ids drift apart. */
const JITTER = 0.05;

/** The interval if nothing is known about how long runs take. */
export const computeAdaptiveInterval: PollInterval = (ageMs, random) =>
  boundWait(ageMs * SHARE_OF_AGE, random);

/** No end is seen later than 5 % of the run, jitter included; a thousand waits take 0.7 % of a core (test/soak). */
export const computePatientInterval: PollInterval = (ageMs, random) => boundWait(ageMs / 21, random, 120_000);

/** Fewer finished runs than this say too little about the next one. */
export const ENOUGH_RUNS = 30;
/** Found by simulation (`bench/polling.js`): a lag of about 2 % of the run for a fifth fewer polls. */
const SHARE_OF_MEDIAN = 0.015;
const SHARE_OF_LATE_AGE = 0.033;

/** The interval learned from finished runs (ms): a share of their median, later of the age. Undefined for too few. */
export function learnInterval(durationsMs: readonly number[]): PollInterval | undefined {
  const sorted = durationsMs.filter((duration) => duration > 0).sort((a, b) => a - b);
  if (sorted.length < ENOUGH_RUNS) return undefined;
  const early = SHARE_OF_MEDIAN * (sorted[sorted.length >> 1] ?? 0);
  return (ageMs, random) => boundWait(Math.max(early, SHARE_OF_LATE_AGE * ageMs), random);
}

/** Jitters a wait and keeps it within the bounds. */
export function boundWait(waitMs: number, random: number, longestMs = LONGEST_MS): number {
  const wait = Math.min(Math.max(waitMs, SHORTEST_MS), longestMs);
  return Math.min(Math.max(wait * (1 - JITTER + 2 * JITTER * random), SHORTEST_MS), longestMs);
}

/**
 * Returns how old a request is, in milliseconds, as far as is known; `now` is monotonic, `wallNow` epoch milliseconds.
 * The service's clock may be hours behind: a request is never older than this machine's record of it.
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
