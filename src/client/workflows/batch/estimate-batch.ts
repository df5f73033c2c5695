import type { Account } from "../account.js";
import type { CreatePacer } from "./create-pacer.js";
import type { StandingCounts } from "./plan-rows.js";

/** A forecast of a batch that is not running. Times are epoch milliseconds. */
export interface BatchEstimate {
  counts: StandingCounts;
  /** Create calls allowed per hour; null if there is no limit or it is unknown. */
  limit: number | null;
  now: number;
  /** When the last row will be sent; null if no row is left to be sent, or the limit is unknown. */
  lastSentAt: number | null;
  /** When the last row will end; null if that or the usual length of a run is unknown. */
  endsAt: number | null;
}

/** A forecast for a running batch. Times are epoch milliseconds; undefined if unknown. `left`: create calls that the hour still allows. */
export interface BatchOutlook {
  left?: number | undefined;
  nextAt?: number | undefined;
  endsAt?: number | undefined;
}

/** Number of newest finished runs from which the usual length is computed. */
const RECENT_RUNS = 30;

/** Estimates how long a run of the account takes, in milliseconds: the median of the newest runs; undefined without any. */
export function estimateRunDuration({ history, origin }: Account): number | undefined {
  const durations = history?.listDurations(origin, RECENT_RUNS) ?? [];
  return [...durations].sort((a, b) => a - b)[Math.floor(durations.length / 2)];
}

/** Forecasts a batch that is not running. `usualMs`: how long a run takes; `now`: epoch ms. */
export function estimateBatch(
  counts: StandingCounts,
  pacer: CreatePacer,
  usualMs: number | undefined,
  now: number,
): BatchEstimate {
  const isKnown = pacer.limit !== undefined && counts.waiting > 0;
  const lastSentAt = isKnown ? (pacer.listTimes(counts.waiting).at(-1) ?? now) : null;
  const endsAt = lastSentAt === null || usualMs === undefined ? null : lastSentAt + usualMs;
  const { limit = Number.POSITIVE_INFINITY } = pacer;
  return { counts, limit: Number.isFinite(limit) ? limit : null, now, lastSentAt, endsAt };
}

/** Forecasts the rest of a running batch. `usualMs`: how long a run takes; `now`: epoch ms. */
export function estimateRunningBatch(
  counts: StandingCounts,
  pacer: CreatePacer,
  usualMs: number | undefined,
  now: number,
): BatchOutlook {
  const { waiting, running } = counts;
  const { left, nextAt } = pacer.estimateOutlook() ?? {};
  const isKnown = waiting === 0 || pacer.limit !== undefined;
  if (!isKnown || usualMs === undefined || waiting + running === 0) return { left, nextAt };
  return { left, nextAt, endsAt: (pacer.listTimes(waiting).at(-1) ?? now) + usualMs };
}
