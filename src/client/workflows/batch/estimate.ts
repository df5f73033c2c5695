import type { History } from "../../store/history/history.js";
import type { CreatePacer } from "./create-pacer.js";
import type { Counts } from "./plan.js";

/** What a batch would do. Times are epoch milliseconds. */
export interface BatchEstimate {
  counts: Counts;
  /** Creates an hour for this batch; null without a limit, or if it is not known. */
  limit: number | null;
  now: number;
  /** When the last row is sent; null if no row is left to be sent, or the limit is not known. */
  lastSentAt: number | null;
  /** The same with the usual time of a run; null if that is not known. */
  endsAt: number | null;
}

/** What is known of the hours ahead while a batch runs. Times are epoch milliseconds; absent if not known. */
export interface BatchOutlook {
  left?: number | undefined;
  nextAt?: number | undefined;
  endsAt?: number | undefined;
}

/** The newest finished runs of an origin that say how long one usually takes. */
const RECENT_RUNS = 30;

/** How long a run at `origin` usually takes, in milliseconds: the median of the newest; undefined without any. */
export function estimateUsualLength(
  history: Pick<History, "listDurations"> | undefined,
  origin: string,
): number | undefined {
  const durations = history?.listDurations(origin, RECENT_RUNS) ?? [];
  return [...durations].sort((a, b) => a - b)[Math.floor(durations.length / 2)];
}

/** What a batch would do. `usualMs` is how long a run takes, `now` epoch ms. */
export function estimate(
  counts: Counts,
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

/** The hours ahead of a running batch. `usualMs` is how long a run takes, `now` epoch ms. */
export function estimateOutlook(
  counts: Counts,
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
