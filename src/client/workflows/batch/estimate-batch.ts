import type { Account } from "../account.js";
import type { CreatePacer } from "./create-pacer.js";
import type { StandingCounts } from "./plan-rows.js";

/** Number of newest finished runs from which the usual length is computed. */
const RECENT_RUNS = 30;

/** Estimates how long a run of the account takes, in milliseconds: the median of the newest runs; undefined without any. */
export function estimateRunDuration({ history, origin }: Account): number | undefined {
  const durations = history?.listDurations(origin, RECENT_RUNS) ?? [];
  return [...durations].sort((a, b) => a - b)[Math.floor(durations.length / 2)];
}

export type BatchForecast = Partial<ReturnType<typeof estimateBatch>>;

/**
 * Forecasts the rest of a batch: how many create calls the hour still allows (`left`), when the next is allowed, when the
 * last waiting row will be sent, and when the last row will end. Undefined if unknown; times are epoch milliseconds.
 * `usualMs`: how long a run takes.
 */
export function estimateBatch(
  { waiting, running }: StandingCounts,
  pacer: CreatePacer,
  usualMs: number | undefined,
  now: number,
) {
  const { left, nextAt } = pacer.estimateOutlook() ?? {};
  const isKnown = waiting === 0 || pacer.limit !== undefined;
  const lastSentAt = isKnown ? pacer.listTimes(waiting).at(-1) : undefined;
  const hasEnd = isKnown && usualMs !== undefined && waiting + running > 0;
  return { left, nextAt, lastSentAt, endsAt: hasEnd ? (lastSentAt ?? now) + usualMs : undefined };
}
