import type { PollInterval, Watched, WatchOptions } from "./types.js";

/** The next poll comes after this share of the age of the request: the lag is then about 2.5 % of the run. */
const SHARE_OF_AGE = 1 / 20;
/** No wait is shorter or longer than these, in milliseconds. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 30_000;
/** Spread of each wait to either side, so that polls of many ids drift apart. */
const JITTER = 0.05;
/** The polls of all watches of one client: `betweenMs` milliseconds apart at least. */
export interface Pace {
  betweenMs: number;
  /** When the next poll may start, in monotonic milliseconds. */
  nextStart: number;
}

/** The interval if nothing is known about how long runs take. */
export const adaptiveInterval: PollInterval = (ageMs, random) => within(ageMs * SHARE_OF_AGE, random);

/** The interval that a user fixed. */
export function fixedInterval(intervalMs: number): PollInterval {
  return () => intervalMs;
}

/** The interval for the options of a watch. */
export function pollIntervalFor({ interval, pollInterval = adaptiveInterval }: WatchOptions): PollInterval {
  return interval === undefined ? pollInterval : fixedInterval(interval);
}

/** Jitters a wait and keeps it within the bounds. */
export function within(waitMs: number, random: number): number {
  const wait = Math.min(Math.max(waitMs, SHORTEST_MS), LONGEST_MS);
  return Math.min(Math.max(wait * (1 - JITTER + 2 * JITTER * random), SHORTEST_MS), LONGEST_MS);
}

/** How old a request is, in milliseconds, as far as is known; `now` is monotonic, `wallNow` epoch milliseconds. */
export function ageOf({ createdAt, since }: Watched, now: number, wallNow: number): number {
  return createdAt === undefined ? now - since : Math.max(now - since, wallNow - createdAt);
}
