/** §8: the window that limits are counted in. How it is measured is not shown; a rolling one is the strictest. */
export const WINDOW_MS = 3_600_000;
/** The window of a user's own limit of creates in 24 hours. */
export const DAY_MS = 86_400_000;

export interface HourlyLimit {
  create: number;
  stop: number;
}

/** §8, requests per hour. Enterprise is "custom": without a number of one's own there is no limit. */
export const TIERS = {
  free: { create: 10, stop: 20 },
  pro: { create: 100, stop: 200 },
  enterprise: { create: Number.POSITIVE_INFINITY, stop: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, HourlyLimit>;

export type Tier = keyof typeof TIERS;

export function isTier(value: unknown): value is Tier {
  return typeof value === "string" && Object.hasOwn(TIERS, value);
}

/** Those of `attempts` (epoch ms, any order) that still count at `now`. */
export function filterWindow(attempts: readonly number[], now: number, windowMs = WINDOW_MS): number[] {
  return attempts.filter((at) => at > now - windowMs).sort((a, b) => a - b);
}

/** When the next request is allowed (epoch ms): `now`, or once enough `attempts` have left the window. */
export function findNextSlot(
  attempts: readonly number[],
  limit: number,
  now: number,
  windowMs = WINDOW_MS,
): number {
  const counted = filterWindow(attempts, now, windowMs);
  if (counted.length < limit) return now;
  const leaving = counted[counted.length - limit];
  return leaving === undefined ? Number.POSITIVE_INFINITY : leaving + windowMs;
}
