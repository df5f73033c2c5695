/** §8: the window of the hourly limits, ms. The interface does not say how it is measured, so assume a rolling one, the strictest. */
export const WINDOW_MS = 3_600_000;
/** The window of the daily limit of create requests that a user sets, ms. */
export const DAY_MS = 86_400_000;

export interface HourlyLimit {
  create: number;
  stop: number;
}

/** §8: requests per hour. Enterprise is "custom", so it is unlimited unless the user sets a number. */
export const TIERS = {
  free: { create: 10, stop: 20 },
  pro: { create: 100, stop: 200 },
  enterprise: { create: Number.POSITIVE_INFINITY, stop: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, HourlyLimit>;

export type Tier = keyof typeof TIERS;

export function isTier(value: unknown): value is Tier {
  return typeof value === "string" && Object.hasOwn(TIERS, value);
}

/** Returns those of `attempts` (epoch ms, in any order) that are still in the window at `now`, in ascending order. */
export function filterAttemptsInWindow(
  attempts: readonly number[],
  now: number,
  windowMs = WINDOW_MS,
): number[] {
  return attempts.filter((at) => at > now - windowMs).sort((a, b) => a - b);
}

/** Returns when the next request is allowed, epoch ms: `now`, or when enough of `attempts` will have left the window. */
export function findNextAllowedTime(
  attempts: readonly number[],
  limit: number,
  now: number,
  windowMs = WINDOW_MS,
): number {
  const countedAttempts = filterAttemptsInWindow(attempts, now, windowMs);
  if (countedAttempts.length < limit) return now;
  const leaving = countedAttempts[countedAttempts.length - limit];
  return leaving === undefined ? Number.POSITIVE_INFINITY : leaving + windowMs;
}
